// SPDX-License-Identifier: Apache-2.0

// apps_cholesky.go - factors a sparse matrix of tiles, as in
// core/bench/apps/cholesky.h. Each step is a goroutine. It waits for the steps before
// it by their channels, which they close.
package main

import (
	"math"
	"time"
)

const (
	cholTiles = 40
	cholSide  = 32
	cholRows  = cholTiles * cholSide
	cholSteps = 3434
)

type tile [cholSide][cholSide]float64

type step struct {
	do     func()
	before []chan bool
	done   chan bool
}

var cholData [cholTiles][cholTiles]tile
var cholHas [cholTiles][cholTiles]bool

func cholElement(i, j int) float64 {
	row, column := i/cholSide, j/cholSide
	if i == j {
		return cholRows
	}
	if row != column && (row*5+column*3)%7 != 0 {
		return 0
	}
	return 1 / float64(1+(i*31+j*17)%101)
}

func cholMakeData() {
	for i := 0; i < cholRows; i++ {
		for j := 0; j < cholRows; j++ {
			at := &cholData[i/cholSide][j/cholSide]
			at[i%cholSide][j%cholSide] = 0
			if j <= i {
				at[i%cholSide][j%cholSide] = cholElement(i, j)
			}
		}
	}
	for i := range cholHas {
		for j := 0; j <= i; j++ {
			cholHas[i][j] = i == j || (i*5+j*3)%7 == 0
		}
	}
	for k := range cholHas {
		for i := k + 1; i < cholTiles; i++ {
			for j := k + 1; j <= i; j++ {
				if cholHas[i][k] && cholHas[j][k] {
					cholHas[i][j] = true
				}
			}
		}
	}
}

func (a *tile) factor() {
	for j := range a {
		for k := 0; k < j; k++ {
			for i := j; i < cholSide; i++ {
				a[i][j] -= a[i][k] * a[j][k]
			}
		}
		a[j][j] = math.Sqrt(a[j][j])
		for i := j + 1; i < cholSide; i++ {
			a[i][j] /= a[j][j]
		}
	}
}

func (a *tile) divide(by *tile) {
	for i := range a {
		for j := range a {
			for k := 0; k < j; k++ {
				a[i][j] -= a[i][k] * by[j][k]
			}
			a[i][j] /= by[j][j]
		}
	}
}

func (a *tile) subtract(left, right *tile) {
	for i := range a {
		for j := range a {
			sum := 0.0
			for k := range a {
				sum += left[i][k] * right[j][k]
			}
			a[i][j] -= sum
		}
	}
}

func cholPlan() []step {
	var last [cholTiles][cholTiles]chan bool
	var steps []step
	add := func(i, j int, do func(), reads ...chan bool) {
		s := step{do: do, done: make(chan bool)}
		for _, before := range append(reads, last[i][j]) {
			if before != nil {
				s.before = append(s.before, before)
			}
		}
		last[i][j] = s.done
		steps = append(steps, s)
	}
	for k := 0; k < cholTiles; k++ {
		diagonal := &cholData[k][k]
		add(k, k, diagonal.factor)
		for i := k + 1; i < cholTiles; i++ {
			if cholHas[i][k] {
				a := &cholData[i][k]
				add(i, k, func() { a.divide(diagonal) },
					last[k][k])
			}
		}
		for i := k + 1; i < cholTiles; i++ {
			for j := k + 1; j <= i; j++ {
				if !cholHas[i][k] || !cholHas[j][k] {
					continue
				}
				a, l, r := &cholData[i][j], &cholData[i][k],
					&cholData[j][k]
				add(i, j, func() { a.subtract(l, r) },
					last[i][k], last[j][k])
			}
		}
	}
	return steps
}

func (s *step) run() {
	for _, before := range s.before {
		<-before
	}
	s.do()
	close(s.done)
}

func cholL(i, j int) float64 {
	if j > i {
		return 0
	}
	return cholData[i/cholSide][j/cholSide][i%cholSide][j%cholSide]
}

func cholCheck() {
	var half [cholRows]float64
	for j := range half {
		for i := j; i < cholRows; i++ {
			half[j] += cholL(i, j) * float64(1+i%3)
		}
	}
	for i := range half {
		got, wanted := 0.0, 0.0
		for j := 0; j < cholRows; j++ {
			got += cholL(i, j) * half[j]
			low, high := j, i
			if j > i {
				low, high = i, j
			}
			wanted += cholElement(high, low) * float64(1+j%3)
		}
		check(math.Abs(got-wanted) < 1e-9*wanted, "cholesky: wrong")
	}
}

func cholesky(r *run) {
	cholMakeData()
	begin := time.Now()
	steps := cholPlan()
	check(len(steps) == cholSteps, "cholesky: number of steps")
	for i := range steps {
		go steps[i].run()
	}
	for i := range steps {
		<-steps[i].done
	}
	r.elapsed(0, begin)
	cholCheck()
}
