/** Addresses of other systems. */
export { localTargetOf } from './addresses.ts';
