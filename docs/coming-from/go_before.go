// SPDX-License-Identifier: Apache-2.0
// go_before.go - four workers square numbers; the first error ends all.
package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

var errBad = errors.New("a bad number")

func square(ctx context.Context, numbers <-chan int, squares chan<- int) error {
	for n := range numbers {
		if n < 0 {
			return errBad
		}
		select {
		case squares <- n * n:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func run(input []int) (int, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	numbers, squares := make(chan int), make(chan int)
	var workers sync.WaitGroup
	var once sync.Once
	var first error

	for i := 0; i < 4; i++ {
		workers.Add(1)
		go func() {
			defer workers.Done()
			if err := square(ctx, numbers, squares); err != nil {
				once.Do(func() { first = err })
				cancel()
			}
		}()
	}
	go func() {
		defer close(numbers)
		for _, n := range input {
			select {
			case numbers <- n:
			case <-ctx.Done():
				return
			}
		}
	}()
	go func() {
		workers.Wait()
		close(squares)
	}()
	sum := 0
	for s := range squares {
		sum += s
	}
	return sum, first
}

func main() {
	sum, err := run([]int{1, 2, 3, 4, 5})
	fmt.Println("sum", sum, "error", err != nil)
	_, err = run([]int{1, -2, 3})
	fmt.Println("error", err != nil)
}
