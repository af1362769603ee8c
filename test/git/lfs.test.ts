/** The real git-lfs, where it is installed. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { ownAddress } from '../support/address.ts';
import { type GitClient, gitClient, remoteOf } from '../support/git.ts';
import { type Persona, type World, world } from '../support/world.ts';

const isInstalled = spawnSync('git', ['lfs', 'version']).status === 0;
const options = { skip: isInstalled ? false : 'git-lfs is not installed here' };

const place = async (): Promise<World> => world({ environment: await ownAddress() });

async function client(here: World, persona: Persona, ...cloneOptions: string[]): Promise<GitClient> {
  const made = await gitClient();
  await done(made, ['lfs', 'install', '--skip-repo']);
  await done(made, [
    'clone',
    '-q',
    ...cloneOptions,
    remoteOf(here.url, here.project.full_path, here.people[persona].token),
    'work',
  ]);
  return made;
}

async function done({ run }: GitClient, args: string[], at = '.'): Promise<string> {
  const { code, stdout, stderr } = await run(args, { at });
  assert.equal(code, 0, `git ${args.join(' ')}: ${stderr}`);
  return stdout;
}

async function commitAll(made: GitClient): Promise<void> {
  await done(made, ['add', '.'], 'work');
  await done(made, ['commit', '-q', '-m', 'Change'], 'work');
}

async function begin(here: World): Promise<GitClient> {
  const made = await client(here, 'maintainer');
  await done(made, ['checkout', '-q', '-b', 'main'], 'work');
  await done(made, ['lfs', 'track', '*.bin'], 'work');
  return made;
}

test('git-lfs pushes and clones large files', options, async () => {
  const here = await place();
  const made = await begin(here);
  const content = randomBytes(300_000);
  await writeFile(path.join(made.folder, 'work/film.bin'), content);
  await commitAll(made);
  await done(made, ['push', '-q', 'origin', 'main'], 'work');
  assert.match(await done(made, ['show', 'HEAD:film.bin'], 'work'), /^version https:\/\/git-lfs/);

  const other = await client(here, 'reporter');
  assert.deepEqual(await readFile(path.join(other.folder, 'work/film.bin')), content);
  await writeFile(path.join(other.folder, 'work/other.bin'), randomBytes(10));
  await commitAll(other);
  assert.notEqual((await other.run(['push', 'origin', 'main'], { at: 'work' })).code, 0);
});

test('a push without its large files is refused, unless LFS is disabled', options, async () => {
  const here = await place();
  const made = await begin(here);
  await writeFile(path.join(made.folder, 'work/film.bin'), randomBytes(1000));
  await commitAll(made);
  const push = () => made.run(['-c', 'core.hooksPath=/dev/null', 'push', 'origin', 'main'], { at: 'work' });
  const refused = await push();
  assert.notEqual(refused.code, 0);
  assert.match(
    refused.stderr,
    /GitLab: LFS objects are missing\. Ensure LFS is properly set up or try a manual "git lfs push --all"\./,
  );
  await done(made, ['lfs', 'push', '--all', 'origin'], 'work');
  assert.equal((await push()).code, 0);

  await here.as('owner').put(`/projects/${here.project.id}`, { lfs_enabled: false });
  await writeFile(path.join(made.folder, 'work/second.bin'), randomBytes(1000));
  await commitAll(made);
  assert.equal((await push()).code, 0);
});

test('git-lfs locks a file, and does not push files that another user has locked', options, async () => {
  const here = await place();
  const owner = await client(here, 'owner');
  await done(owner, ['checkout', '-q', '-b', 'main'], 'work');
  await done(owner, ['lfs', 'track', '*.bin'], 'work');
  await writeFile(path.join(owner.folder, 'work/film.bin'), 'one');
  await commitAll(owner);
  await done(owner, ['push', '-q', 'origin', 'main'], 'work');
  await done(owner, ['lfs', 'lock', 'film.bin'], 'work');

  const made = await client(here, 'developer');
  assert.match(await done(made, ['lfs', 'locks'], 'work'), /^film\.bin\s+owner/);
  await done(made, ['config', 'lfs.locksverify', 'true'], 'work');
  // git-lfs keeps what is lockable read-only.
  await chmod(path.join(made.folder, 'work/film.bin'), 0o644);
  await writeFile(path.join(made.folder, 'work/film.bin'), 'two');
  await commitAll(made);
  const refused = await made.run(['push', 'origin', 'HEAD:film'], { at: 'work' });
  assert.notEqual(refused.code, 0, refused.stderr);
  assert.notEqual((await made.run(['lfs', 'unlock', '--force', 'film.bin'], { at: 'work' })).code, 0);
  await done(owner, ['lfs', 'unlock', 'film.bin'], 'work');
  await done(made, ['push', '-q', 'origin', 'HEAD:film'], 'work');
});
