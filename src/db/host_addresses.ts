/** The hosts in the address of a database (docs/operating.md#a-database-that-fails-over). Pure functions. */

/** An address with several hosts: `postgresql://user:password@one:5432,two:5432/database`. */
const parts = /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^/?]*)(.*)$/s;

/**
 * The addresses of the hosts of an address, which is the only one for a single host.
 * @param address `postgresql://…`, with commas between hosts
 */
export function hostsOf(address: string): string[] {
  const [, start, hosts, end] = parts.exec(address) ?? [];
  return hosts?.includes(',') ? hosts.split(',').map((host) => `${start}${host}${end}`) : [address];
}
