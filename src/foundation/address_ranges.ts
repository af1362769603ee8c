/** Ranges of IP addresses: single ones and CIDR blocks of both versions. */
import { BlockList, isIP } from 'node:net';

/** The texts of a list that is separated by commas. */
export const rangesIn = (list: string): string[] =>
  list
    .split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '');

/** An address, and how many of its bits count; undefined for another text. */
function rangeOf(text: string): { address: string; bits: number; version: 'ipv4' | 'ipv6' } | undefined {
  const [address = '', length, ...more] = text.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0 || address.includes('%')) return undefined;
  const most = version === 4 ? 32 : 128;
  const bits = length === undefined ? most : /^\d{1,3}$/.test(length) ? Number(length) : most + 1;
  return bits > most ? undefined : { address, bits, version: version === 4 ? 'ipv4' : 'ipv6' };
}

/** Whether a text is an address or a CIDR block. */
export const isRange = (text: string): boolean => rangeOf(text) !== undefined;

/** Whether an address is of this machine. */
export const isLoopback = (address: string): boolean => inRanges(['127.0.0.0/8', '::1'])(address);

/** A function that tells whether an address is in one of the ranges. Texts that are no ranges count for none. */
export function inRanges(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const text of ranges) {
    const range = rangeOf(text);
    if (range) list.addSubnet(range.address, range.bits, range.version);
  }
  return (given) => {
    const [address = ''] = given.split('%', 1);
    const version = isIP(address);
    return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6');
  };
}

const maximumRanges = 100;

/** Why a list of ranges cannot be set, empty if it can. @param list separated by commas */
export function rangeReasons(list: string | null): string[] {
  const ranges = rangesIn(list ?? '');
  if (ranges.length > maximumRanges) return [`has more than ${maximumRanges} ranges`];
  return ranges.every(isRange) ? [] : ['is an invalid IP address range'];
}
