// SPDX-License-Identifier: GPL-2.0
/*
 * mmap() of a socket: memory of the socket's own, mapped into the process and
 * offered to the peer.
 *
 * The mapping has a file of its own, so that it does not keep the socket open.
 * That file lives as long as any part of the mapping in any process, however it
 * was split, moved or inherited; when it goes, the peer is told. If the
 * connection ends first, the pages stay with those who have them mapped.
 */

#include <linux/anon_inodes.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/net.h>
#include <net/sock.h>

#include "ep.h"
#include "mapping.h"
#include "region.h"
#include "rsock.h"

/* munmap() waits for the peer; the end of a process must not */
static int rsock_mapping_release(struct inode *inode, struct file *file)
{
	struct rsock_mapping *map = file->private_data;

	if (current->flags & (PF_EXITING | PF_KTHREAD))
		rsock_unmap_async(map, NULL, NULL);
	else
		rsock_unmap(map);
	return 0;
}

static const struct file_operations rsock_mapping_fops = {
	.owner		= THIS_MODULE,
	.release	= rsock_mapping_release,
};

/* The offset in the file is the one that the peer knows */
static vm_fault_t rsock_mapping_fault(struct vm_fault *vmf)
{
	struct rsock_mapping *map = vmf->vma->vm_file->private_data;
	struct rsock_region *r = map->region;
	pgoff_t nr = vmf->pgoff - (r->node.start >> PAGE_SHIFT);

	if (nr >= r->buf.nr)
		return VM_FAULT_SIGBUS;
	vmf->page = r->buf.pages[nr];
	get_page(vmf->page);
	return 0;
}

static const struct vm_operations_struct rsock_mapping_ops = {
	.fault	= rsock_mapping_fault,
};

/* Memory of our own, as a mapping with a file */
static struct file *rsock_mapping_file(struct rsock_ep *ep, u64 offset, u64 len)
{
	struct rsock_mapping *map;
	struct file *file;
	int err;

	map = rsock_mapping_alloc(ep);
	if (!map)
		return ERR_PTR(-ENOMEM);
	err = rsock_iomap_add_own(ep, offset, len, &map->region);
	if (err) {
		rsock_mapping_free(map);
		return ERR_PTR(err);
	}
	file = anon_inode_getfile("[rsock]", &rsock_mapping_fops, map, O_RDWR);
	if (IS_ERR(file))
		rsock_unmap(map);
	return file;
}

static int rsock_ep_mmap(struct rsock_ep *ep, struct vm_area_struct *vma)
{
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	u64 len = vma->vm_end - vma->vm_start;
	struct file *file;

	if (offset > S64_MAX || offset + len > S64_MAX)
		return -EINVAL;
	file = rsock_mapping_file(ep, offset, len);
	if (IS_ERR(file))
		return PTR_ERR(file);
	vma_set_file(vma, file);
	fput(file);
	vma->vm_ops = &rsock_mapping_ops;
	/* Neither grows nor appears in core dumps; a child shares it */
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	return 0;
}

/**
 * rsock_mmap() - mmap(2)
 * @file: the socket's
 * @sock: socket
 * @vma: what to map; its offset is what the peer is to know it by
 *
 * Return: 0 or a negative errno: EINVAL (not MAP_SHARED), ENOTCONN, EEXIST
 * (offsets in use), ENOMEM (no memory, or the peer's table is full).
 */
int rsock_mmap(struct file *file, struct socket *sock,
	       struct vm_area_struct *vma)
{
	struct rsock_ep *ep;
	int err;

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	ep = rsock_sk_ep_get(sock->sk);
	if (!ep)
		return -ENOTCONN;
	err = rsock_ep_mmap(ep, vma);
	rsock_ep_put(ep);
	return err;
}
