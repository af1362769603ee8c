/** Addresses of other systems. */
export { localPlaceOf } from './addresses.ts';
