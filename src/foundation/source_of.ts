/** Decides which addresses count as one client where clients are limited by address. */
import { isIPv6 } from 'node:net';

/** Undoes the IPv4-to-IPv6 mapping of dual-stack sockets. */
export const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');

const groupsOfNetwork = 4;

/**
 * The source of a connection: its IPv4 address, or the first 64 bits of its IPv6 address, since each customer of a provider has all the others.
 * @param address as Node.js gives it; it may name an interface. It is absent over a Unix socket, and when the client has left already; all of these are one source
 */
export function sourceOf(address: string | undefined): string {
  if (address === undefined) return '';
  const plain = plainAddress(address).replace(/%.*/, '');
  if (!isIPv6(plain)) return plain;
  const [head = '', tail] = plain.split('::');
  const [first, last] = [head, tail ?? ''].map((part) => part.split(':').filter(Boolean));
  const zeros = tail === undefined ? 0 : 8 - first!.length - last!.length;
  const groups = [...first!, ...Array<string>(zeros).fill('0'), ...last!];
  return `${groups
    .slice(0, groupsOfNetwork)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}
