// SPDX-License-Identifier: Apache-2.0

// apps_merge.go - merges sorted runs, as in core/bench/apps/merge.h.
package main

import (
	"sync"
	"time"
)

const mergeRuns, mergeRun, mergeSerial = 32, 65536, 4096

var mergeData, mergeSpare [mergeRuns * mergeRun]uint32

func mergeMakeData() {
	x := uint64(1)
	for i := range mergeData {
		x = x*6364136223846793005 + 1442695040888963407
		mergeData[i] = uint32(x >> 48)
		if i%mergeRun != 0 {
			mergeData[i] += mergeData[i-1]
		}
	}
}

func mergeSerially(left, right, out []uint32) {
	for len(left) > 0 && len(right) > 0 {
		if right[0] < left[0] {
			out[0], right = right[0], right[1:]
		} else {
			out[0], left = left[0], left[1:]
		}
		out = out[1:]
	}
	copy(out[copy(out, left):], right)
}

func mergePlace(sorted []uint32, key uint32) int {
	low, high := 0, len(sorted)
	for low < high {
		middle := (low + high) / 2
		if sorted[middle] < key {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

func mergeRanges(left, right, out []uint32) {
	if len(left)+len(right) <= mergeSerial {
		mergeSerially(left, right, out)
		return
	}
	l, m := len(left)/2, len(right)/2
	if len(left) >= len(right) {
		m = mergePlace(right, left[l])
	} else {
		l = mergePlace(left, right[m])
	}
	both(func() { mergeRanges(left[:l], right[:m], out[:l+m]) },
		func() { mergeRanges(left[l:], right[m:], out[l+m:]) })
}

func both(f, g func()) {
	var left sync.WaitGroup
	left.Add(1)
	go func() {
		f()
		left.Done()
	}()
	g()
	left.Wait()
}

// Merge the runs of data; the result lies in one of the two.
func mergeAll(data, spare []uint32) []uint32 {
	if len(data) == mergeRun {
		return data
	}
	var l, r []uint32
	half := len(data) / 2
	both(func() { l = mergeAll(data[:half], spare[:half]) },
		func() { r = mergeAll(data[half:], spare[half:]) })
	if &l[0] == &data[0] {
		mergeRanges(l, r, spare)
		return spare
	}
	mergeRanges(l, r, data)
	return data
}

func merge(r *run) {
	mergeMakeData()
	begin := time.Now()
	result := mergeAll(mergeData[:], mergeSpare[:])
	r.elapsed(0, begin)
	var sum, wanted uint64
	for i, v := range result {
		check(i == 0 || result[i-1] <= v, "merge: order")
		sum += uint64(v)
	}
	mergeMakeData()
	for _, v := range mergeData {
		wanted += uint64(v)
	}
	check(sum == wanted, "merge: an element is lost")
}
