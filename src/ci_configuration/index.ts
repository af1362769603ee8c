/** The file that says which jobs a pipeline has, from its text to jobs. It imports no other folder of ours but `expressions`. */
export { compile } from './compile.ts';
