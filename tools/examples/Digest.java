// SPDX-License-Identifier: GPL-2.0
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * A client sends all of its standard input, and is told the SHA-256 of it.
 *
 * <pre>
 *	rsock-run java Digest.java serve ADDRESS PORT	serves clients at this address
 *	rsock-run java Digest.java ADDRESS PORT &lt;FILE	is a client
 * </pre>
 *
 * Nothing in it is about RDMA: rsock-run makes the sockets what they are.
 */
public class Digest {
	private static void answer(Socket socket) throws IOException, NoSuchAlgorithmException {
		MessageDigest digest = MessageDigest.getInstance("SHA-256");
		StringBuilder text = new StringBuilder();
		byte[] data = new byte[65536];
		int n;

		while ((n = socket.getInputStream().read(data)) >= 0)
			digest.update(data, 0, n);
		for (byte b : digest.digest())
			text.append(String.format("%02x", b));
		socket.getOutputStream().write(text.append('\n').toString().getBytes());
	}

	private static void serve(InetSocketAddress address) throws IOException, NoSuchAlgorithmException {
		try (ServerSocket listener = new ServerSocket()) {
			listener.bind(address);
			while (true) {
				try (Socket socket = listener.accept()) {
					answer(socket);
				}
			}
		}
	}

	private static void ask(InetSocketAddress address) throws IOException {
		ByteBuffer data = ByteBuffer.allocateDirect(65536);

		try (SocketChannel channel = SocketChannel.open(address)) {
			while (Channels.newChannel(System.in).read(data) >= 0) {
				data.flip();
				while (data.hasRemaining())
					channel.write(data);
				data.clear();
			}
			channel.shutdownOutput();
			Channels.newInputStream(channel).transferTo(System.out);
		}
	}

	public static void main(String[] args) throws Exception {
		if (args[0].equals("serve"))
			serve(new InetSocketAddress(args[1], Integer.parseInt(args[2])));
		else
			ask(new InetSocketAddress(args[0], Integer.parseInt(args[1])));
	}
}
