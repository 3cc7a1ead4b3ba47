// SPDX-License-Identifier: GPL-2.0
/*
 * sock_diag(7) for AF_RSOCK: a module of its own, loaded by the kernel when a
 * program asks. See include/uapi/linux/rsock_diag.h.
 *
 * Nothing here waits for a socket's lock, which its user can hold for long:
 * what is shown is read under the endpoint's.
 */

#include <linux/module.h>
#include <linux/sock_diag.h>
#include <net/netlink.h>
#include <net/sock.h>

#include <linux/rsock_diag.h>

#include "info.h"
#include "pernet.h"
#include "rsock.h"
#include "rx.h"

static void diag_addr(const union rsock_addr *addr, bool v6, __be32 *dst,
		      __be16 *port)
{
	if (addr->sa.sa_family == AF_INET6) {
		memcpy(dst, &addr->in6.sin6_addr, sizeof(addr->in6.sin6_addr));
		*port = addr->in6.sin6_port;
	} else if (v6) {
		if (addr->sa.sa_family == AF_INET)
			ipv6_addr_set_v4mapped(addr->in.sin_addr.s_addr,
					       (struct in6_addr *)dst);
		*port = addr->in.sin_port;
	} else {
		dst[0] = addr->in.sin_addr.s_addr;
		*port = addr->in.sin_port;
	}
}

/* Who is shown as IPv6: who was given such an address, or has one */
static void diag_id(const struct sock *sk, const struct rsock_addrs *addrs,
		    struct rsock_diag_msg *msg)
{
	bool v6 = rsock_sk(sk)->v6 || addrs->local.sa.sa_family == AF_INET6;

	msg->family = v6 ? AF_INET6 : AF_INET;
	diag_addr(&addrs->local, v6, msg->id.idiag_src, &msg->id.idiag_sport);
	diag_addr(&addrs->peer, v6, msg->id.idiag_dst, &msg->id.idiag_dport);
	msg->id.idiag_if = READ_ONCE(sk->sk_bound_dev_if);
}

static int diag_attrs(struct sk_buff *skb, struct sock *sk,
		      const struct rsock_diag_info *info, const char *device,
		      u32 show)
{
	int err = 0;

	if (show & BIT(RSOCK_DIAG_MEMINFO))
		err = sock_diag_put_meminfo(sk, skb, RSOCK_DIAG_MEMINFO);
	if (!err && (show & BIT(RSOCK_DIAG_INFO)))
		err = nla_put_64bit(skb, RSOCK_DIAG_INFO, sizeof(*info), info,
				    RSOCK_DIAG_UNSPEC);
	if (!err && device[0] && (show & BIT(RSOCK_DIAG_DEVICE)))
		err = nla_put_string(skb, RSOCK_DIAG_DEVICE, device);
	return err;
}

static int diag_fill(struct sk_buff *skb, struct netlink_callback *cb,
		     struct sock *sk, const struct rsock_diag_req *req)
{
	char device[IB_DEVICE_NAME_MAX] = {};
	struct rsock_diag_info info;
	struct rsock_diag_msg *msg;
	struct rsock_addrs addrs;
	struct nlmsghdr *nlh;
	u32 show = req->show;

	nlh = nlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			SOCK_DIAG_BY_FAMILY, sizeof(*msg), NLM_F_MULTI);
	if (!nlh)
		return -EMSGSIZE;
	rsock_diag_info(sk, &info, &addrs, device);
	msg = nlmsg_data(nlh);
	memset(msg, 0, sizeof(*msg));
	diag_id(sk, &addrs, msg);
	msg->state = READ_ONCE(sk->sk_state);
	msg->shutdown = READ_ONCE(sk->sk_shutdown);
	sock_diag_save_cookie(sk, msg->id.idiag_cookie);
	msg->uid = from_kuid_munged(sk_user_ns(NETLINK_CB(cb->skb).sk),
				    sock_i_uid(sk));
	msg->inode = sock_i_ino(sk);
	if (msg->state == TCP_LISTEN) {
		msg->rqueue = READ_ONCE(sk->sk_ack_backlog);
		msg->wqueue = READ_ONCE(sk->sk_max_ack_backlog);
		show &= ~BIT(RSOCK_DIAG_INFO);
	} else {
		msg->rqueue = info.unread;
		msg->wqueue = info.queued;
	}
	if (diag_attrs(skb, sk, &info, device, show)) {
		nlmsg_cancel(skb, nlh);
		return -EMSGSIZE;
	}
	nlmsg_end(skb, nlh);
	return 0;
}

/*
 * Sockets come and go between two parts of a dump: it goes on with the one that
 * is as far down the list, so that one may be missed then, or seen twice.
 */
static int diag_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct rsock_diag_req *req = nlmsg_data(cb->nlh);
	struct net *net = sock_net(skb->sk);
	struct sock *sk;

	for (sk = rsock_net_first(net, cb->args[0]); sk;
	     sk = rsock_net_next(sk), cb->args[0]++) {
		if (!(req->states & (1 << READ_ONCE(sk->sk_state))))
			continue;
		if (diag_fill(skb, cb, sk, req)) {
			sock_put(sk);
			break;
		}
	}
	return skb->len;
}

static int diag_request(struct sk_buff *skb, struct nlmsghdr *nlh)
{
	struct netlink_dump_control c = { .dump = diag_dump };

	if (nlmsg_len(nlh) < sizeof(struct rsock_diag_req))
		return -EINVAL;
	if (!(nlh->nlmsg_flags & NLM_F_DUMP))
		return -EOPNOTSUPP;
	return netlink_dump_start(sock_net(skb->sk)->diag_nlsk, skb, nlh, &c);
}

static struct sock_diag_handler diag_handler = {
	.owner = THIS_MODULE,
	.dump = diag_request,
};

static int __init rsock_diag_init(void)
{
	diag_handler.family = rsock_family;
	return sock_diag_register(&diag_handler);
}

static void __exit rsock_diag_exit(void)
{
	sock_diag_unregister(&diag_handler);
}

module_init(rsock_diag_init);
module_exit(rsock_diag_exit);

MODULE_DESCRIPTION("sock_diag of AF_RSOCK");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");
MODULE_ALIAS_NET_PF_PROTO_TYPE(PF_NETLINK, NETLINK_SOCK_DIAG, AF_RSOCK);
