/** The interface of metadata to other districts. */
export { apiLevel } from './rules.ts';
