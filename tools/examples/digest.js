// SPDX-License-Identifier: GPL-2.0
/*
 * A client sends all of its standard input, and is told the SHA-256 of it.
 *
 *	rsock-run node digest.js serve ADDRESS PORT	serves clients at this address
 *	rsock-run node digest.js ADDRESS PORT <FILE	is a client
 *
 * Nothing in it is about RDMA: rsock-run makes the sockets what they are.
 */
"use strict";

const crypto = require("crypto");
const net = require("net");

function answer(socket) {
	const digest = crypto.createHash("sha256");

	socket.on("data", (data) => digest.update(data));
	socket.on("end", () => socket.end(digest.digest("hex") + "\n"));
	socket.on("error", (error) => console.error(error));
}

function serve(address, port) {
	net.createServer({ allowHalfOpen: true }, answer).listen(port, address);
}

function ask(address, port) {
	const socket = net.connect(port, address);

	process.stdin.pipe(socket);
	socket.pipe(process.stdout);
}

const args = process.argv.slice(2);

if (args[0] === "serve")
	serve(args[1], Number(args[2]));
else
	ask(args[0], Number(args[1]));
