// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded for User-Mode Linux: the processor's extended state as large as this
 * machine has it. Linux before 6.13 takes it to have 2696 bytes there, but with
 * AMX there are more, and the host refuses to set a part only: "ptrace set fp regs
 * failed". What is beyond is nothing that a guest uses, and is set to its
 * initial state.
 */
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

/* More than any machine has, until the host says how much that is */
static _Thread_local char state[1 << 16];
static size_t size = sizeof(state);

static long host_ptrace(int request, pid_t pid, void *addr, void *data)
{
	static long (*next)(int request, ...);

	if (!next)
		next = dlsym(RTLD_NEXT, "ptrace");
	return next(request, pid, addr, data);
}

static long get_state(pid_t pid, struct iovec *part)
{
	struct iovec all = { state, size };
	long ret = host_ptrace(PTRACE_GETREGSET, pid, (void *)NT_X86_XSTATE, &all);

	if (ret < 0)
		return ret;
	size = all.iov_len;
	if (part->iov_len > size)
		part->iov_len = size;
	memcpy(part->iov_base, state, part->iov_len);
	return ret;
}

static long set_state(pid_t pid, const struct iovec *part)
{
	struct iovec all = { state, size };
	size_t len = part->iov_len < size ? part->iov_len : size;

	memcpy(state, part->iov_base, len);
	memset(state + len, 0, size - len);
	return host_ptrace(PTRACE_SETREGSET, pid, (void *)NT_X86_XSTATE, &all);
}

long ptrace(enum __ptrace_request request, ...)
{
	void *addr, *data;
	va_list args;
	pid_t pid;

	va_start(args, request);
	pid = va_arg(args, pid_t);
	addr = va_arg(args, void *);
	data = va_arg(args, void *);
	va_end(args);
	if (addr == (void *)NT_X86_XSTATE && request == PTRACE_GETREGSET)
		return get_state(pid, data);
	if (addr == (void *)NT_X86_XSTATE && request == PTRACE_SETREGSET)
		return set_state(pid, data);
	return host_ptrace(request, pid, addr, data);
}
