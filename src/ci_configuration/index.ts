/** Configuration files of pipelines: from their text to jobs. It imports no other folder of ours. */
export { compile } from './compile.ts';
