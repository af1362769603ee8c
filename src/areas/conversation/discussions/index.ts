/** The interface of discussions to other districts. */
export { Discussion } from './present.ts';
