/** Addresses of other systems, and requests to them. */
export { localTargetOf, urlReasons } from './addresses.ts';
export { connectTo } from './connecting.ts';
export { type Download, download, fetchWhole, LimitError, RefusedRedirect } from './fetching.ts';
export { BlockedError, OutboundError, open as openRequest, ResponseTooLong, reasonOf } from './opening.ts';
export { postTo } from './posting.ts';
export { throughProxy } from './proxy.ts';
export { putTo } from './putting.ts';
