/** Programs in colours. It imports no other folder of ours but the foundation. */
export { highlighted } from './highlight.ts';
