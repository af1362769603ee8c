/** Copies of repositories that follow the repositories of another of our servers. */
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
  /** The value of the header `Authorization`, which is passed neither in arguments nor in files. */
  authorization: string;
}

/** The target state of a copy. */
export interface MirrorTarget {
  /** As `refsChecksum` computes it. */
  checksum: string;
  /** The branch that HEAD points to. */
  head: string;
  objectFormat: ObjectFormat;
  /** Whether everything is fetched again and replaces the current copy, which is missing or damaged. */
  anew: boolean;
}

/** The refs of the source are not the expected ones; the copy is unchanged. */
export class MirrorDiffers extends Error {
  override name = 'MirrorDiffers';
  readonly checksum: string;
  constructor(checksum: string) {
    super(`The source has the checksum ${checksum}.`);
    this.checksum = checksum;
  }
}

/** The repository that a source is fetched into. */
const incomingOf = ({ path }: Repository): string => join(dirname(path), `.incoming-${basename(path)}`);

/** Removes a copy, and the remains of a killed fetch beside it. */
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
    // The same settings as for a push.
    'fetch.unpackLimit': '20',
  });

/** git passes none of its settings to the program on the other side of a path. */
const fromHere: readonly Option[] = [
  '--prune',
  "--upload-pack=git -c 'safe.directory=*' -c 'transfer.hideRefs=!refs/coppice' upload-pack",
];

/**
 * Makes a repository a copy of another: all refs, including refs hidden from clients, and HEAD. The source is first fetched separately and compared, so that the
 * copy never loses data, and its refs move only after their objects exist.
 * @param target its path, which need not exist for a complete copy
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
    // Objects of the copy are not fetched again.
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

/** A crash in between leaves no copy, which counts as missing rather than half complete. */
async function replace(target: Repository, fetched: Repository): Promise<void> {
  await git(fetched, 'pack-refs', ['--all']);
  await deleteRepository(target);
  await rename(fetched.path, target.path);
}

async function update(target: Repository, fetched: Repository, head: string, signal: AbortSignal): Promise<void> {
  await shareObjects(fetched, target, signal);
  // Set by git, because names of refs need not be text. git removes refs before it creates others in their place.
  await pastStaleLocks(target, () => fetchRefs(target, fetched.path, [everything], { options: fromHere, signal }));
  await setHead(target, head);
}
