// SPDX-License-Identifier: GPL-2.0

// A client sends all of its standard input, and is told the SHA-256 of it.
//
//	digest serve ADDRESS PORT       serves clients at this address (IPv4)
//	digest ADDRESS PORT <FILE       is a client
//
// The net package names no protocol for a socket that it makes, but takes one that
// is there: what it returns is used like any connection of TCP. Programs that shall
// stay as they are need "rsock-run -s".
package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"strconv"
	"syscall"
)

const ipprotoRsock = 260

// A socket of AF_RSOCK, as a file, after a call that binds or connects it
func rsock(address, port string, call func(fd int, sa syscall.Sockaddr) error) *os.File {
	sa := &syscall.SockaddrInet4{}
	copy(sa.Addr[:], net.ParseIP(address).To4())
	sa.Port, _ = strconv.Atoi(port)
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, ipprotoRsock)
	if err == nil {
		err = call(fd, sa)
	}
	if err != nil {
		log.Fatal(err)
	}
	return os.NewFile(uintptr(fd), "rsock")
}

func listen(address, port string) (net.Listener, error) {
	file := rsock(address, port, func(fd int, sa syscall.Sockaddr) error {
		if err := syscall.Bind(fd, sa); err != nil {
			return err
		}
		return syscall.Listen(fd, 128)
	})
	defer file.Close()
	return net.FileListener(file)
}

func dial(address, port string) (net.Conn, error) {
	file := rsock(address, port, syscall.Connect)
	defer file.Close()
	return net.FileConn(file)
}

func answer(conn net.Conn) {
	defer conn.Close()
	digest := sha256.New()
	if _, err := io.Copy(digest, conn); err != nil {
		log.Print(err)
		return
	}
	fmt.Fprintf(conn, "%x\n", digest.Sum(nil))
}

func serve(address, port string) {
	listener, err := listen(address, port)
	if err != nil {
		log.Fatal(err)
	}
	for {
		conn, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go answer(conn)
	}
}

func ask(address, port string) {
	conn, err := dial(address, port)
	if err == nil {
		_, err = io.Copy(conn, os.Stdin)
	}
	if err == nil {
		err = conn.(*net.TCPConn).CloseWrite()
	}
	if err == nil {
		_, err = io.Copy(os.Stdout, conn)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	if os.Args[1] == "serve" {
		serve(os.Args[2], os.Args[3])
	} else {
		ask(os.Args[1], os.Args[2])
	}
}
