/** A Git LFS object on a running server. */
import assert from 'node:assert/strict';
import { basic, objectFor } from '../support/lfs.ts';
import { oneCall, rootToken, type Server } from './coppice.ts';

export const large = 'a large file\n'.repeat(1000);

/** Uploads a large file, and gives the address and the credential with which it may be downloaded for a while. */
export async function addLargeFile(
  server: Server,
  full_path: string,
): Promise<{ address: string; authorization: string }> {
  const object = objectFor(large);
  const action = async (operation: 'upload' | 'download') => {
    const answer = await fetch(`${server.url}/${full_path}.git/info/lfs/objects/batch`, {
      method: 'POST',
      headers: { ...oneCall, ...basic(rootToken), 'content-type': 'application/vnd.git-lfs+json' },
      body: JSON.stringify({ operation, transfers: ['basic'], objects: [object] }),
    });
    const { objects } = (await answer.json()) as {
      objects: { actions: Record<string, { href: string; header: { Authorization: string } }> }[];
    };
    const { href, header } = objects[0]!.actions[operation]!;
    return { address: new URL(href).pathname, authorization: header.Authorization };
  };
  const { address, authorization } = await action('upload');
  const headers = { ...oneCall, authorization, 'content-type': 'application/octet-stream' };
  assert.equal((await fetch(server.url + address, { method: 'PUT', headers, body: large })).status, 200);
  return await action('download');
}
