/* SPDX-License-Identifier: Apache-2.0 */
/* fractal.cpp - fractal [FILE.png]: computes a Julia set with a task for each
 * line. A build without libpng writes FILE as a portable pixmap.
 *
 * Without a file the program prints the set in characters. A pool has fewer
 * buffers than there are lines, so tasks wait for one another.
 */
#include "marl/defer.h"
#include "marl/pool.h"
#include "marl/scheduler.h"
#include "marl/waitgroup.h"

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#ifdef HAVE_PNG
#include <png.h>
#endif

struct Picture {
	Picture(int w, int h) : width(w), height(h), depths(size_t(w * h))
	{
	}

	int                  width, height;
	std::vector<uint8_t> depths; /* 0..255: how long a point stays near */
};

static uint8_t depth(std::complex<double> z)
{
	const std::complex<double> c(-0.79, 0.15);

	for (int i = 0; i < 255; ++i) {
		if (std::norm(z) > 4)
			return static_cast<uint8_t>(i);
		z = z * z + c;
	}
	return 255;
}

/* The widest line. */
using Line = std::array<uint8_t, 4096>;

static void compute_line(const Picture &picture, int y, Line *line)
{
	const double scale = 3.2 / picture.width;
	const double stretch = 2.2 / picture.height;

	for (int x = 0; x < picture.width; ++x)
		(*line)[size_t(x)] =
			depth({ (x - picture.width / 2) * scale,
				(y - picture.height / 2) * stretch });
}

static void compute(Picture *picture)
{
	marl::BoundedPool<Line, 8> buffers;
	marl::WaitGroup            lines(unsigned(picture->height));
	const size_t               width = size_t(picture->width);

	for (int y = 0; y < picture->height; ++y)
		marl::schedule([=] {
			defer(lines.done());
			marl::Loan<Line> line = buffers.borrow();

			compute_line(*picture, y, line.get());
			std::copy_n(line->begin(), width,
				    &picture->depths[size_t(y) * width]);
		});
	lines.wait();
}

static void draw(const Picture &picture)
{
	const char shades[] = " .:-=+*#%@";

	for (int y = 0; y < picture.height; ++y) {
		std::string line;

		for (int x = 0; x < picture.width; ++x) {
			int d = picture.depths[size_t(y * picture.width + x)];

			line += shades[d >= 45 ? 9 : d / 5];
		}
		std::puts(line.c_str());
	}
}

/* Three bytes for each pixel. */
static std::vector<uint8_t> colours(const Picture &picture)
{
	std::vector<uint8_t> bytes;

	for (uint8_t d : picture.depths)
		bytes.insert(bytes.end(),
			     { uint8_t(d * 5), uint8_t(d * 3), d });
	return bytes;
}

#ifdef HAVE_PNG
static bool write(const Picture &picture, const char *path)
{
	const std::vector<uint8_t> bytes = colours(picture);
	png_image                  image{};

	image.version = PNG_IMAGE_VERSION;
	image.width = png_uint_32(picture.width);
	image.height = png_uint_32(picture.height);
	image.format = PNG_FORMAT_RGB;
	return png_image_write_to_file(&image, path, 0, bytes.data(), 0,
				       nullptr) != 0;
}
#else
static bool write(const Picture &picture, const char *path)
{
	const std::vector<uint8_t> bytes = colours(picture);
	FILE                      *file = std::fopen(path, "wb");

	if (!file)
		return false;
	std::fprintf(file, "P6\n%d %d\n255\n", picture.width, picture.height);
	std::fwrite(bytes.data(), 1, bytes.size(), file);
	return std::fclose(file) == 0;
}
#endif

int main(int argc, char **argv)
{
	marl::Scheduler scheduler(marl::Scheduler::Config::allCores());

	scheduler.bind();
	defer(scheduler.unbind());

	Picture picture = argc > 1 ? Picture(1600, 1100) : Picture(78, 32);

	compute(&picture);
	if (argc > 1)
		return write(picture, argv[1]) ? 0 : 1;
	draw(picture);
	return 0;
}
