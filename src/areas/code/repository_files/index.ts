/** The interface of repository files to other districts. */
export { BlameRange } from './present.ts';
