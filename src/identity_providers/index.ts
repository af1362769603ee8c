/** Who signs people in besides their passwords here: the file that names them. */
export { noSignInFile, readSignInFile, type SignInFile } from './file.ts';
export { memberSets } from './members.ts';
