/** Addresses that the server hands out: each must lead to a page or a file. Replies, mail, webhooks and pushes of all tests are looked through. */
import assert from 'node:assert/strict';
import { pages } from '../../src/areas/pages.ts';
import { pageFinder } from '../../src/pages/routes.ts';

/** The external address of servers in tests, unless a test says another. */
export const testUrl = 'http://coppice.test';

const find = pageFinder(pages);

/** The path of the page that an address without its host leads to. */
export const pageOf = (address: string): string | undefined => find(address.split(/[?#]/, 1)[0]!)?.page.path;

/** Files, which have doors of their own, what mail leads to without a session, and addresses for programs. */
export const isNoPage = (address: string): boolean =>
  /^\/(api|uploads|assets|-\/(project|group)\/\d+\/uploads|-\/invites|-\/sent_notifications)\/|^\/(docs|robots\.txt|users\/confirmation|-\/profile\/emails\/confirmation)\b|\.git(\/|$)/.test(
    address,
  );

/** The addresses of this server in a value, without its host: those of members that are named as such. */
export function addressesIn(value: unknown, into = new Set<string>()): Set<string> {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return into;
  for (const [name, member] of Object.entries(value))
    if (typeof member !== 'string') addressesIn(member, into);
    else if (/(^|_)url$/.test(name) && member.startsWith(`${testUrl}/`)) into.add(member.slice(testUrl.length));
  return into;
}

/** The addresses of this server in a text of its own, such as what a push prints. */
export const addressesInText = (text: string): string[] =>
  [...text.matchAll(/http:\/\/coppice\.test(\/[^\s"'<>]*)/g)].map(([, address]) => address!);

/** @param where what contains the addresses, for the message */
export function checkAddresses(addresses: Iterable<string>, where: string): void {
  const dead = [...addresses].filter((address) => !isNoPage(address) && pageOf(address) === undefined);
  if (dead.length > 0) assert.fail(`${where} has addresses that lead nowhere: ${dead.join(', ')}`);
}
