/** Source maps: where lines of generated JavaScript come from. */
export { type Original, originalsOf } from './mapping.ts';
