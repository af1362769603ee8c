/** Addresses of other systems, and requests to them. */
export { localTargetOf, urlReasons } from './addresses.ts';
export { OutboundError, postTo } from './posting.ts';
