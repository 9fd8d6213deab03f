// SPDX-License-Identifier: Apache-2.0

// apps_b_tree.go - inserts into a B-tree with a lock in each node, as in
// core/bench/apps/b_tree.h.
package main

import (
	"sync"
	"time"
)

const bKeys, bHalf, bInserts, bTasks = 63, 31, 262144, 64

type bNode struct {
	lock     sync.Mutex
	count    int
	isLeaf   bool
	keys     [bKeys]uint32
	children [bKeys + 1]*bNode
}

var bRoot *bNode
var bRootLock sync.Mutex

func bKey(i int) uint32 {
	return uint32(i) * 2654435761
}

func (n *bNode) place(key uint32) int {
	return mergePlace(n.keys[:n.count], key)
}

func (n *bNode) open(at int) {
	copy(n.keys[at+1:n.count+1], n.keys[at:n.count])
	if !n.isLeaf {
		copy(n.children[at+2:n.count+2], n.children[at+1:n.count+1])
	}
	n.count++
}

func (n *bNode) split(at int) {
	left := n.children[at]
	right := &bNode{count: bHalf, isLeaf: left.isLeaf}
	copy(right.keys[:], left.keys[bHalf+1:])
	copy(right.children[:], left.children[bHalf+1:])
	left.count = bHalf
	n.open(at)
	n.keys[at] = left.keys[bHalf]
	n.children[at+1] = right
}

func bLockRoot() *bNode {
	bRootLock.Lock()
	defer bRootLock.Unlock()
	n := bRoot
	n.lock.Lock()
	if n.count == bKeys {
		above := &bNode{}
		above.children[0] = n
		above.split(0)
		bRoot = above
		above.lock.Lock()
		n.lock.Unlock()
		n = above
	}
	return n
}

func (n *bNode) descend(key uint32) *bNode {
	at := n.place(key)
	child := n.children[at]
	child.lock.Lock()
	if child.count == bKeys {
		n.split(at)
		if key > n.keys[at] {
			child.lock.Unlock()
			child = n.children[at+1]
			child.lock.Lock()
		}
	}
	n.lock.Unlock()
	return child
}

func bInsert(key uint32) {
	n := bLockRoot()
	for !n.isLeaf {
		n = n.descend(key)
	}
	at := n.place(key)
	n.open(at)
	n.keys[at] = key
	n.lock.Unlock()
}

func (n *bNode) add(last int64, sum *uint64) int64 {
	for i := 0; i < n.count; i++ {
		if !n.isLeaf {
			last = n.children[i].add(last, sum)
		}
		check(int64(n.keys[i]) > last, "b-tree: out of order")
		last = int64(n.keys[i])
		*sum += uint64(last)
	}
	if n.isLeaf {
		return last
	}
	return n.children[n.count].add(last, sum)
}

func bTree(r *run) {
	bRoot = &bNode{isLeaf: true}
	begin := time.Now()
	forAll(r.workers, bTasks, func(part int) {
		for i := 0; i < bInserts/bTasks; i++ {
			bInsert(bKey(part*(bInserts/bTasks) + i))
		}
	})
	r.elapsed(0, begin)
	var sum, wanted uint64
	bRoot.add(-1, &sum)
	for i := 0; i < bInserts; i++ {
		wanted += uint64(bKey(i))
	}
	check(sum == wanted, "b-tree: a key is lost")
}
