/** Addresses of other systems. */
export { type LocalPlace, localPlaceOf } from './addresses.ts';
