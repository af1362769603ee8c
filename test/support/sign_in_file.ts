/** The file of providers in tests. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { atFileEnd } from './file_end.ts';

/** @returns the environment with a file that names the providers */
export async function signInFile(content: object): Promise<{ COPPICE_SIGN_IN: string }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'coppice-sign-in-'));
  atFileEnd(() => rm(folder, { recursive: true }));
  const file = path.join(folder, 'sign_in.json');
  await writeFile(file, JSON.stringify(content));
  return { COPPICE_SIGN_IN: file };
}

/** A file with a directory that is not there, for what only names it. */
export const directoryFile = () =>
  signInFile({
    providers: [{ name: 'directory', type: 'ldap', encryption: 'plain', base: 'dc=example', hosts: ['127.0.0.1:1'] }],
  });
