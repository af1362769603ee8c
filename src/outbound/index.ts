/** Addresses of other systems, and requests to them. */
export { localTargetOf, urlReasons } from './addresses.ts';
export { OutboundError, postTo, ResponseTooLong } from './posting.ts';
export { throughProxy } from './proxy.ts';
