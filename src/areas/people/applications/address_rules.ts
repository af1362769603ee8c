/** Whether a request may send people to an address, and how it is sent (docs/reference/applications.md#addresses). Pure functions. */
import { addressesIn } from './rules.ts';

/** The start of an address on the computer of its user, with any port. */
const loopback = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::\d{1,5})?(?=[/?]|$)/i;

/**
 * Whether an address that a request names is one of the application. It is compared as it is written. A program on the computer of its user listens on whichever
 * port is free, so that of such an address does not count (RFC 8252, 7.3).
 * @param registered the addresses of the application, one a line
 */
export function isRegistered(registered: string, given: string): boolean {
  const plain = (address: string) => address.replace(loopback, '$1');
  return addressesIn(registered).some(
    (address) =>
      address === given || (loopback.test(address) && URL.canParse(given) && plain(address) === plain(given)),
  );
}

/**
 * The address with further parameters, as it is sent to a browser.
 * @param address one that is registered
 */
export function addressWith(address: string, parameters: Readonly<Record<string, string | undefined>>): URL {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const separator = address.includes('?') ? (/[?&]$/.test(address) ? '' : '&') : '?';
  return new URL(`${address}${separator}${new URLSearchParams(given)}`);
}
