// SPDX-License-Identifier: GPL-2.0

//! A client of the digest examples in other languages: it sends all of its standard
//! input, and is told the SHA-256 of it.
//!
//!     digest ADDRESS PORT <FILE
//!
//! std::net names no protocol for a socket that it makes, but takes one that is
//! there: from then on it is used like any connection of TCP.

use std::io;
use std::mem::size_of;
use std::net::{Ipv4Addr, Shutdown, TcpStream};
use std::os::unix::io::FromRawFd;

const AF_INET: i32 = 2;
const SOCK_STREAM: i32 = 1;
const SOCK_CLOEXEC: i32 = 0o2000000;
const IPPROTO_RSOCK: i32 = 260;

#[repr(C)]
struct SockaddrIn {
    family: u16,
    port: u16,
    addr: [u8; 4],
    zero: [u8; 8],
}

extern "C" {
    fn socket(domain: i32, kind: i32, protocol: i32) -> i32;
    fn connect(fd: i32, addr: *const SockaddrIn, len: u32) -> i32;
}

fn dial(address: Ipv4Addr, port: u16) -> io::Result<TcpStream> {
    let to = SockaddrIn {
        family: AF_INET as u16,
        port: port.to_be(),
        addr: address.octets(),
        zero: [0; 8],
    };
    let fd = unsafe { socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_RSOCK) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // Which closes it, whatever happens
    let stream = unsafe { TcpStream::from_raw_fd(fd) };
    if unsafe { connect(fd, &to, size_of::<SockaddrIn>() as u32) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(stream)
}

fn main() -> io::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let address = args[1].parse().expect("an IPv4 address");
    let port = args[2].parse().expect("a port");
    let mut stream = dial(address, port)?;

    io::copy(&mut io::stdin(), &mut stream)?;
    stream.shutdown(Shutdown::Write)?;
    io::copy(&mut stream, &mut io::stdout())?;
    Ok(())
}
