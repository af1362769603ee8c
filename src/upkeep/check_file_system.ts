/** Whether a file system does what git and the server rely on (docs/operating.md#a-shared-file-system). */
import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, rename, rm, stat, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** How far the clock of a file server may be from the clock of the machine. */
const mostApart_ms = 60_000;

export interface FileSystem {
  /** The folder of the storage, where a trial makes a folder of its own. */
  folder: string;
  /** The same folder through another mount, as another machine has it; the same by default. */
  elsewhere?: string;
  /** How often each trial is made. */
  times: number;
}

interface Places {
  here: string;
  there: string;
  times: number;
  /** The places, in words. */
  across: string;
}

type Trial = (places: Places) => Promise<string | undefined>;

const succeeds = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  );

const text = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '');

/** Runs a step several times, one after another. @returns how often it said that something was wrong */
async function wrongTimes(times: number, step: (turn: number) => Promise<boolean>): Promise<number> {
  let wrong = 0;
  for (let turn = 0; turn < times; turn += 1) if (await step(turn)) wrong += 1;
  return wrong;
}

const create = async (file: string): Promise<void> => (await open(file, 'wx')).close();

/** Git takes a lock by creating a file that must not exist. */
const exclusive: Trial = async ({ here, there, times, across }) => {
  const wrong = await wrongTimes(times, async (turn) => {
    const made = await Promise.all([here, there].map((place) => succeeds(create(path.join(place, `lock-${turn}`)))));
    return made.filter(Boolean).length !== 1;
  });
  return wrong > 0
    ? `Of two that created the same file at once, not just one succeeded, ${wrong} of ${times} times${across}. Two pushes could change a branch together.`
    : undefined;
};

async function replace(file: string, content: string): Promise<void> {
  await writeFile(`${file}.new`, content);
  await rename(`${file}.new`, file);
}

/** A ref is replaced by renaming a file over it. */
const replaced: Trial = async ({ here, there, times, across }) => {
  const wrong = await wrongTimes(times, async (turn) => {
    await replace(path.join(here, 'ref'), String(turn));
    return (await text(path.join(there, 'ref'))) !== String(turn);
  });
  return wrong > 0
    ? `A file that was replaced still had its old content, ${wrong} of ${times} times${across}. Another server would not see a push. Switch the caches of attributes and names off, as docs/operating.md says.`
    : undefined;
};

const created: Trial = async ({ here, there, times, across }) => {
  const wrong = await wrongTimes(times, async (turn) => {
    await writeFile(path.join(here, `new-${turn}`), 'x');
    return (await text(path.join(there, `new-${turn}`))) !== 'x';
  });
  return wrong > 0 ? `A new file was not there, ${wrong} of ${times} times${across}.` : undefined;
};

const removed: Trial = async ({ here, there, times, across }) => {
  const wrong = await wrongTimes(times, async (turn) => {
    const name = `gone-${turn}`;
    await writeFile(path.join(here, name), 'x');
    await text(path.join(there, name));
    await unlink(path.join(here, name));
    return succeeds(stat(path.join(there, name)));
  });
  return wrong > 0 ? `A deleted file was still there, ${wrong} of ${times} times${across}.` : undefined;
};

const linked: Trial = async ({ here }) => {
  await writeFile(path.join(here, 'linked'), 'x');
  const isMade = await succeeds(link(path.join(here, 'linked'), path.join(here, 'again')));
  return isMade && (await text(path.join(here, 'again'))) === 'x'
    ? undefined
    : 'Hard links cannot be made. Forks share objects by them.';
};

async function sync(place: string): Promise<void> {
  const handle = await open(place);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const synced: Trial = async ({ here }) => {
  await writeFile(path.join(here, 'kept'), 'x');
  const isKept = (await succeeds(sync(path.join(here, 'kept')))) && (await succeeds(sync(here)));
  return isKept
    ? undefined
    : 'Files and folders cannot be written through to the disk (fsync). A power cut could lose a push.';
};

const timed: Trial = async ({ here }) => {
  await writeFile(path.join(here, 'now'), 'x');
  const apart_ms = (await stat(path.join(here, 'now'))).mtimeMs - Date.now();
  return Math.abs(apart_ms) > mostApart_ms
    ? `The clock of the file server is ${Math.round(Math.abs(apart_ms) / 1000)} seconds ${apart_ms > 0 ? 'ahead of' : 'behind'} the clock of this machine.`
    : undefined;
};

const trials: readonly Trial[] = [exclusive, replaced, created, removed, linked, synced, timed];

/** Works in folders that are removed afterwards. */
async function inTrialFolder<T>(
  { folder, elsewhere, times }: FileSystem,
  work: (places: Places) => Promise<T>,
): Promise<T> {
  const name = `.coppice_trial-${randomUUID()}`;
  const here = path.join(folder, name);
  await mkdir(here, { mode: 0o700 });
  const across = elsewhere === undefined ? '' : ` between ${folder} and ${elsewhere}`;
  try {
    return await work({ here, there: path.join(elsewhere ?? folder, name), times, across });
  } finally {
    await rm(here, { recursive: true, force: true });
  }
}

/**
 * Tries a file system.
 * @returns what does not hold, as sentences
 * @throws the error of the file system if nothing can be written there
 */
export const fileSystemProblems = (tried: FileSystem): Promise<string[]> =>
  inTrialFolder(tried, async (places) => {
    const found: string[] = [];
    for (const trial of trials) {
      const problem = await trial(places);
      if (problem !== undefined) found.push(problem);
    }
    return found;
  });

const median = (values: readonly number[]): number => values.toSorted((one, other) => one - other)[values.length >> 1]!;

/**
 * How long operations take.
 * @returns the medians in milliseconds, by operation
 */
export const fileSystemTimes = (tried: FileSystem): Promise<ReadonlyMap<string, number>> =>
  inTrialFolder(tried, async ({ here, times }) => {
    const file = path.join(here, 'file');
    const steps: Record<string, () => Promise<unknown>> = {
      write: () => writeFile(file, 'x'),
      fsync: () => sync(file),
      stat: () => stat(file),
      'open and read': () => readFile(file),
      rename: () => rename(file, file),
    };
    const taken = new Map<string, number>();
    for (const [name, step] of Object.entries(steps)) {
      const all: number[] = [];
      for (let turn = 0; turn < times; turn += 1) {
        const begun = performance.now();
        await step();
        all.push(performance.now() - begun);
      }
      taken.set(name, median(all));
    }
    return taken;
  });
