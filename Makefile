# SPDX-License-Identifier: GPL-2.0
#
# Entry points only; "make help" lists them. The work is done by kbuild (see
# Kbuild) and by the programs in tools/.

# Which kernel: 6.1, 6.12, a full version, uml or uml-debug; default: this one.
KVER ?=
# Which test (default: all), and whether to run it here instead of in a guest.
TEST ?=
HOST ?=
# Which of tools/bench-* to run instead of tools/bench.
BENCH ?=
PREFIX ?= /usr/local

export KDIR HOST FULL RDMA_DRIVER

.PHONY: all module library run programs sparse checkpatch shellcheck check check-debug \
	check-all deb demo bench shell install setup clean help

all: module

module:
	@tools/build '$(KVER)'

library:
	@$(MAKE) -s -C tools/librsock

run:
	@$(MAKE) -s -C tools/rsock-run

programs:
	@$(MAKE) -s -C selftests

sparse:
	@tools/build '$(KVER)' C=2 CF=-D__CHECK_ENDIAN__

checkpatch:
	@tools/checkpatch

shellcheck:
	@tools/shellcheck

check:
	@tools/vm/check $(if $(KVER),-k $(KVER)) $(TEST)

check-debug:
	@tools/vm/check -k uml-debug $(TEST)

check-all:
	@FULL=1 tools/vm/check -k '6.1 6.12 uml uml-debug' $(TEST)

deb:
	@tools/deb

demo:
	@tools/demo $(KVER)

bench:
	@tools/bench$(if $(BENCH),-$(BENCH)) $(KVER)

shell:
	@tools/vm/shell $(KVER)

setup:
	@tools/vm/setup build vm uml lint bench

# What the Debian packages have, of the running kernel or of KVER: no modules for tests.
# With DESTDIR all goes there, and with INSTALL_MOD_PATH the modules.
INSTALL_MOD_PATH ?= $(DESTDIR)

install:
	@tools/build '$(KVER)' CONFIG_RSOCK_KERNEL_TEST= CONFIG_RSOCK_KUNIT_TEST=
	@set -- $$(tools/vm/kernel $(KVER)) && \
	$(MAKE) -s -C "$$2" M="$(CURDIR)/build/$$1" INSTALL_MOD_PATH='$(INSTALL_MOD_PATH)' \
		CONFIG_MODULE_SIG_ALL= modules_install && \
	$(if $(DESTDIR),:,depmod $(if $(INSTALL_MOD_PATH),-b '$(INSTALL_MOD_PATH)') "$$1")
	@$(MAKE) -s -C tools install DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)'
	@$(if $(DESTDIR),:,ldconfig)

clean:
	rm -rf build

help:
	@echo 'make [KVER=…] [KDIR=…]  build the module into build/<kernel>/'
	@echo 'make library            build librsock (riomap, riowrite) into build/librsock/'
	@echo 'make run                build rsock-run (TCP programs on RDMA) into build/rsock-run/'
	@echo 'make check [TEST=…]     test it in guests with the stock kernels 6.1 and 6.12'
	@echo 'make check-debug        test it with KASAN, lockdep, kmemleak, … (User-Mode Linux)'
	@echo 'make check-all          all of these, with longer tests'
	@echo 'make check HOST=1       test it on this very machine, without a guest'
	@echo 'make demo               see it work, in a guest'
	@echo 'make shell              a root shell in a guest with the module loaded'
	@echo 'make bench              measure it against TCP, rsockets and raw verbs'
	@echo 'make bench BENCH=…      idle: many connections; pair: SMC-R, two hosts; nfs'
	@echo 'make sparse             static checks of types, locks and byte order'
	@echo 'make checkpatch         coding style'
	@echo 'make shellcheck         the same for shell scripts'
	@echo 'make install            install modules, programs, librsock and pages here'
	@echo 'make deb                Debian packages, by DKMS, into build/deb/'
	@echo 'make setup              install the Debian packages for all of this'
	@echo 'make clean              remove build/'
	@echo
	@echo 'KVER: 6.1, 6.12, a full version, uml, uml-debug; default: the running kernel'
	@echo '      (for check: 6.1 and 6.12)'
