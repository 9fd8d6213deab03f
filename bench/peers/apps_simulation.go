// SPDX-License-Identifier: Apache-2.0

// apps_simulation.go - customers in the order of simulated time, as in
// core/bench/apps/simulation.h. Each has a goroutine and a channel.
package main

import (
	"sync"
	"time"
)

const simCustomers, simVisits = 100000, 10

type arrival struct {
	time     uint64
	customer uint32
}

var simHeap [simCustomers]arrival
var simWaiting int
var simRandom, simNow, simOrder, simCount uint64

func simBegin() {
	simWaiting, simRandom, simNow, simOrder, simCount = 0, 1, 0, 0, 0
}

func simLeave(customer uint32) {
	at := simWaiting
	simWaiting++
	simRandom = simRandom*6364136223846793005 + 1
	t := simNow + (simRandom>>40+1)*simCustomers
	t += uint64(customer) - t%simCustomers
	for ; at > 0 && t < simHeap[(at-1)/2].time; at = (at - 1) / 2 {
		simHeap[at] = simHeap[(at-1)/2]
	}
	simHeap[at] = arrival{t, customer}
}

func simNext() uint32 {
	simWaiting--
	first, last := simHeap[0], simHeap[simWaiting]
	at := 0
	for {
		child := 2*at + 1
		if child >= simWaiting {
			break
		}
		if child+1 < simWaiting &&
			simHeap[child+1].time < simHeap[child].time {
			child++
		}
		if last.time <= simHeap[child].time {
			break
		}
		simHeap[at] = simHeap[child]
		at = child
	}
	simHeap[at] = last
	simNow = first.time
	return first.customer
}

func simVisit(customer uint32) {
	simCount++
	simOrder = (simOrder ^ uint64(customer)) * 0x9e3779b97f4a7c15
}

func simSerially() uint64 {
	var visits [simCustomers]int
	simBegin()
	for i := range visits {
		simLeave(uint32(i))
	}
	for simWaiting > 0 {
		customer := simNext()
		simVisit(customer)
		visits[customer]++
		if visits[customer] < simVisits {
			simLeave(customer)
		}
	}
	return simOrder
}

var turns [simCustomers]chan bool

func passOn() {
	if simWaiting > 0 {
		turns[simNext()] <- true
	}
}

func simulation(r *run) {
	var left sync.WaitGroup
	begin := time.Now()
	simBegin()
	left.Add(simCustomers)
	for i := range turns {
		turns[i] = make(chan bool, 1)
		simLeave(uint32(i))
		go func(customer uint32) {
			for i := 0; i < simVisits; i++ {
				<-turns[customer]
				simVisit(customer)
				if i+1 < simVisits {
					simLeave(customer)
				}
				passOn()
			}
			left.Done()
		}(uint32(i))
	}
	passOn()
	left.Wait()
	r.elapsed(0, begin)
	count, order := simCount, simOrder
	check(count == simCustomers*simVisits, "simulation: lost visits")
	check(order == simSerially(), "simulation: wrong order")
}
