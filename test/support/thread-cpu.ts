/**
 * Processor time of this thread so far, in milliseconds. Unlike the time that passes, it does not count what other
 * threads and programs do on a busy machine.
 */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
