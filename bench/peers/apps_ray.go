// SPDX-License-Identifier: Apache-2.0

// apps_ray.go - a ray tracer, as in core/bench/apps/ray.h.
package main

import (
	"math"
	"time"
)

const rayWidth, rayHeight, rayDepth = 640, 480, 6

type vec struct{ x, y, z float64 }

type sphere struct {
	centre vec
	radius float64
}

var raySpheres [64]sphere
var rayPicture, rayWanted [rayHeight][rayWidth]float32

func dot(a, b vec) float64 {
	return a.x*b.x + a.y*b.y + a.z*b.z
}

func along(from, way vec, far float64) vec {
	return vec{from.x + way.x*far, from.y + way.y*far, from.z + way.z*far}
}

func unit(v vec) vec {
	return along(vec{}, v, 1/math.Sqrt(dot(v, v)))
}

func hit(s *sphere, from, way vec) float64 {
	to := vec{s.centre.x - from.x, s.centre.y - from.y, s.centre.z - from.z}
	b := dot(to, way)
	rest := b*b - dot(to, to) + s.radius*s.radius
	if rest < 0 {
		return -1
	}
	return b - math.Sqrt(rest)
}

func nearest(from, way vec) (*sphere, float64) {
	var found *sphere
	var distance float64
	for i := range raySpheres {
		d := hit(&raySpheres[i], from, way)
		if d > 1e-6 && (found == nil || d < distance) {
			found, distance = &raySpheres[i], d
		}
	}
	return found, distance
}

func background(from, way vec) float64 {
	if way.y >= 0 {
		return 0.5 + 0.5*way.y
	}
	at := along(from, way, -from.y/way.y)
	if int64(math.Floor(at.x)+math.Floor(at.z))&1 != 0 {
		return 0.2
	}
	return 0.7
}

func rayTrace(from, way vec) float64 {
	light, weight := 0.0, 1.0
	for depth := 0; depth < rayDepth; depth++ {
		s, distance := nearest(from, way)
		if s == nil {
			return light + weight*background(from, way)
		}
		from = along(from, way, distance)
		normal := unit(along(from, s.centre, -1))
		light += weight * 0.1 * math.Abs(normal.y)
		way = along(way, normal, -2*dot(way, normal))
		weight *= 0.8
	}
	return light
}

func rayLine(y int) {
	for x := 0; x < rayWidth; x++ {
		way := vec{(float64(x) - rayWidth/2.0) / rayWidth,
			(rayHeight/2.0 - float64(y)) / rayWidth, 1}
		rayPicture[y][x] = float32(rayTrace(vec{0, 1.5, -2}, unit(way)))
	}
}

func ray(r *run) {
	for i := range raySpheres {
		raySpheres[i] = sphere{vec{float64(i%8)*1.5 - 5.25, 0.5,
			4 + float64(i/8)*1.5}, 0.3 + 0.05*float64(i%5)}
	}
	forAll(1, rayHeight, rayLine)
	rayWanted = rayPicture
	rayPicture = [rayHeight][rayWidth]float32{}
	begin := time.Now()
	forAll(r.workers, rayHeight, rayLine)
	r.elapsed(0, begin)
	check(rayPicture == rayWanted, "ray: another picture")
}
