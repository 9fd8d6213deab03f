/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_partition.c - the CPUs of each worker, on made-up machines. */
#include "park/topology.h"

#include "testing/test.h"

enum { MOST = 256 };

static uint32_t cpus[MOST];

static sennit_cpu_mask part(uint32_t count, uint32_t worker, uint32_t workers)
{
	return sn_cpu_partition_get((sennit_cpu_mask){ cpus, count }, worker,
				    workers);
}

/* Number the CPUs as Linux does: the second threads of all cores come after the
 * first ones. Then sort them. */
static void build(uint32_t nodes, uint32_t cores)
{
	static struct topology_slot slots[MOST];
	static uint32_t             copy[MOST];
	const uint32_t              n = 2 * nodes * cores;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t core = i % (n / 2);

		cpus[i] = i;
		slots[i].place = (sennit_cpu_place){ .node = core / cores,
						     .cache = core / cores,
						     .core = core };
	}
	sn_cpu_partition_sort(cpus, slots, copy, n);
}

TEST(every_cpu_is_in_one_part)
{
	for (uint32_t count = 1; count <= 40; count++)
		for (uint32_t workers = 1; workers <= count; workers++) {
			const uint32_t *at = cpus;

			for (uint32_t i = 0; i < workers; i++) {
				sennit_cpu_mask m = part(count, i, workers);

				assert_ptr_equal(m.cpus, at);
				assert_in_range(m.count, count / workers,
						(count + workers - 1) /
							workers);
				at += m.count;
			}
			assert_ptr_equal(at, cpus + count);
		}
}

TEST(with_few_cpus_workers_share_them)
{
	for (uint32_t i = 0; i < 7; i++) {
		assert_ptr_equal(part(3, i, 7).cpus, &cpus[i % 3]);
		assert_int_equal(part(3, i, 7).count, 1);
	}
}

TEST(a_later_worker_gets_an_earlier_part)
{
	assert_ptr_equal(part(8, 5, 4).cpus, part(8, 1, 4).cpus);
	assert_int_equal(part(8, 5, 4).count, 2);
}

/* Symptom that the sort prevents: CPUs 0 to 3 and 4 to 7 are the same cores. */
TEST(both_threads_of_a_core_are_in_one_part)
{
	sennit_cpu_mask m;

	build(1, 4);
	m = part(8, 0, 2);
	assert_int_equal(m.count, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(m.cpus[i] % 4, i / 2);
}

TEST(a_part_spans_no_two_nodes)
{
	build(4, 16);
	for (uint32_t i = 0; i < 8; i++) {
		sennit_cpu_mask m = part(128, i, 8);

		assert_int_equal(m.count, 16);
		for (uint32_t k = 0; k < 16; k++)
			assert_int_equal(m.cpus[k] % 64 / 16, i / 2);
	}
}
