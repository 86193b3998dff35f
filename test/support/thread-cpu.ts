/**
 * Returns the processor time of this thread in milliseconds. Unlike wall time, processor time excludes other threads
 * and programs on a busy machine.
 */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
