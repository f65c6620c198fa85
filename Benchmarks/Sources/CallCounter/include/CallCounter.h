/// Counters in the file that ISTHMUS_CALL_COUNTS names, as 64-bit numbers in this order.
enum { allocation_count, retain_count, counter_count };
