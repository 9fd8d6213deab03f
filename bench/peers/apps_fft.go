// SPDX-License-Identifier: Apache-2.0

// apps_fft.go - a Fourier transform in two dimensions, as in core/bench/apps/fft.h.
package main

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Run f(i) for all i below count, by goroutines that take the next one.
func forAll(workers, count int, f func(i int)) {
	var left sync.WaitGroup
	var next atomic.Int64
	left.Add(workers)
	for w := 0; w < workers; w++ {
		go func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= count {
					break
				}
				f(i)
			}
			left.Done()
		}()
	}
	left.Wait()
}

const fftSide, fftTile = 1024, 32

type picture [fftSide][fftSide]complex128

var fftData, fftTurned picture
var fftRoots [fftSide / 2]complex128

func fftMakeData() {
	x := uint64(1)
	for i := range fftRoots {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / fftSide)
		fftRoots[i] = complex(cos, -sin)
	}
	for i := range fftData {
		for j := range fftData[i] {
			x = x*6364136223846793005 + 1
			fftData[i][j] = complex(float64(x>>40), 0)
		}
	}
}

func fftReverse(row *[fftSide]complex128) {
	for i, j := 1, 0; i < fftSide; i++ {
		bit := fftSide / 2
		for ; j&bit != 0; bit /= 2 {
			j ^= bit
		}
		j ^= bit
		if i < j {
			row[i], row[j] = row[j], row[i]
		}
	}
}

func fftRow(row *[fftSide]complex128) {
	fftReverse(row)
	for half := 1; half < fftSide; half *= 2 {
		for at := 0; at < fftSide; at += 2 * half {
			for k := 0; k < half; k++ {
				w := fftRoots[k*(fftSide/2/half)]
				a, t := row[at+k], row[at+k+half]*w
				row[at+k] = a + t
				row[at+k+half] = a - t
			}
		}
	}
}

func fftTurn(column int) {
	left := column * fftTile
	for i := range fftData {
		for j := left; j < left+fftTile; j++ {
			fftTurned[j][i] = fftData[i][j]
		}
	}
}

func fftCheck() {
	var sum, before, after float64
	x := uint64(1)
	for i := range fftTurned {
		for _, p := range fftTurned[i] {
			x = x*6364136223846793005 + 1
			sum += float64(x >> 40)
			before += float64(x>>40) * float64(x>>40)
			after += real(p)*real(p) + imag(p)*imag(p)
		}
	}
	after /= fftSide * fftSide
	check(math.Abs(real(fftTurned[0][0])-sum) < 1e-9*sum, "fft: wrong sum")
	check(math.Abs(after-before) < 1e-9*before, "fft: wrong energy")
}

func fft(r *run) {
	fftMakeData()
	begin := time.Now()
	forAll(r.workers, fftSide, func(i int) { fftRow(&fftData[i]) })
	forAll(r.workers, fftSide/fftTile, fftTurn)
	forAll(r.workers, fftSide, func(i int) { fftRow(&fftTurned[i]) })
	r.elapsed(0, begin)
	fftCheck()
}
