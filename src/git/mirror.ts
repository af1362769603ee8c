/** Copies of repositories that follow those of another server of ours. */
import { rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { git, settingsOf } from './command.ts';
import { refsChecksum } from './copies.ts';
import { shareObjects } from './copy.ts';
import { fetchRefs } from './fetching.ts';
import { pastStaleLocks } from './locks.ts';
import { createRepository, deleteRepository, setHead } from './repository.ts';
import type { ObjectFormat, Option, Repository } from './types.ts';

/** A repository of another server that is read over HTTP. */
export interface MirrorSource {
  /** http, without userinfo. */
  url: string;
  /** The value of the header `Authorization`, which neither arguments nor files have. */
  authorization: string;
}

/** What a copy is to become. */
export interface MirrorTarget {
  /** As `refsChecksum` computes it. */
  checksum: string;
  /** The branch that HEAD points to. */
  head: string;
  objectFormat: ObjectFormat;
  /** Whether everything is fetched and takes the place of what is there, which is missing or damaged. */
  anew: boolean;
}

/** The refs of the source are not those that were expected; the copy is as it was. */
export class MirrorDiffers extends Error {
  override name = 'MirrorDiffers';
  readonly checksum: string;
  constructor(checksum: string) {
    super(`The source has the checksum ${checksum}.`);
    this.checksum = checksum;
  }
}

/** Where a source is fetched to. */
const incomingOf = ({ path }: Repository): string => join(dirname(path), `.incoming-${basename(path)}`);

/** Removes a copy, and what a fetch that was killed has left beside it. */
export async function removeMirror(copy: Repository): Promise<void> {
  await rm(incomingOf(copy), { recursive: true, force: true });
  await deleteRepository(copy);
}

const everything = '+refs/*:refs/*';

const settingsFor = ({ authorization }: MirrorSource) =>
  settingsOf({
    'http.extraHeader': `Authorization: ${authorization}`,
    'http.followRedirects': 'false',
    'protocol.allow': 'never',
    'protocol.http.allow': 'always',
    // As for a push.
    'fetch.unpackLimit': '20',
  });

/** git gives the program on the other side of a path none of its settings. */
const fromHere: readonly Option[] = [
  '--prune',
  "--upload-pack=git -c 'safe.directory=*' -c 'transfer.hideRefs=!refs/coppice' upload-pack",
];

/**
 * Makes a repository a copy of another: all refs, those that are hidden from clients among them, and HEAD. The source is fetched apart and compared first, so that
 * the copy never becomes less than it was, and its refs move only after their objects are there.
 * @param target its path; nothing needs to be there when it is copied anew
 * @throws MirrorDiffers; GitError when the source cannot be read; the reason of the signal
 */
export async function mirrorRepository(
  source: MirrorSource,
  target: Repository,
  { checksum, head, objectFormat, anew }: MirrorTarget,
  signal: AbortSignal,
): Promise<void> {
  const path = incomingOf(target);
  await rm(path, { recursive: true, force: true });
  try {
    const fetched = await createRepository(path, { defaultBranch: head, objectFormat });
    // What the copy has is not fetched again.
    if (!anew) await writeFile(join(path, 'objects/info/alternates'), `${join(target.path, 'objects')}\n`);
    await fetchRefs(fetched, source.url, [everything], { env: settingsFor(source), signal });
    const now = await refsChecksum(fetched);
    if (now !== checksum) throw new MirrorDiffers(now);
    if (anew) await replace(target, fetched);
    else await update(target, fetched, head, signal);
  } finally {
    await rm(path, { recursive: true, force: true });
  }
}

/** A crash in between leaves no copy, which is then missing and not half there. */
async function replace(target: Repository, fetched: Repository): Promise<void> {
  await git(fetched, 'pack-refs', ['--all']);
  await deleteRepository(target);
  await rename(fetched.path, target.path);
}

async function update(target: Repository, fetched: Repository, head: string, signal: AbortSignal): Promise<void> {
  await shareObjects(fetched, target, signal);
  // By git, because names of refs need not be text. It removes refs before it makes others in their place.
  await pastStaleLocks(target, () => fetchRefs(target, fetched.path, [everything], { options: fromHere, signal }));
  await setHead(target, head);
}
