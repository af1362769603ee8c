/** A made-up history of the size that real projects have, the same one in every run. */

/** How many commits `main` reaches. */
export const commits = 5200;
/** Some are lost again when a merge takes the other side. */
export const plainFiles = 2100;
/** A file that hundreds of commits have changed, so that its blame has as many parts. */
export const busyFile = 'docs/change log.md';
/** Every so many commits the busy file changes, and a side branch is merged. */
const busyStep = 6;
const mergeStep = 130;
const start_s = 1_600_000_000;
const step_s = 600;

const people = [
  ['Ada Lovelace', 'ada@example.com'],
  ['Grace Hopper', 'grace@example.com'],
  ['Edsger W. Dijkstra', 'ewd@example.com'],
  ['Zoë Müller', 'zoe@example.com'],
] as const;

/** The path of one of the plain files, which lie in folders of fifty. */
export const plainFile = (index: number): string => `src/part_${Math.floor(index / 50)}/file_${index}.txt`;

/** Numbers that look random and are always the same (a linear congruential generator). */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const sized = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;

/** Changes a line of the busy file, takes one out or puts one in, somewhere. */
function changeBusy(lines: string[], number: number, next: (below: number) => number): void {
  const at = next(lines.length + 1);
  const isRemoval = number % 60 === 0 && lines.length > 50;
  const replaced = isRemoval || (number % 24 === 0 && lines.length > 0) ? 1 : 0;
  lines.splice(
    at,
    replaced,
    ...(isRemoval ? [] : [`- Change ${number}: entry ${next(1000)}`, ...(number % 36 === 0 ? [''] : [])]),
  );
}

/** The files that a commit changes, as commands of the stream. */
function changesOf(number: number, busy: string[], next: (below: number) => number): string {
  const index = number <= plainFiles ? number - 1 : next(plainFiles);
  const text = Array.from(
    { length: 3 + (index % 20) },
    (_, line) => `${plainFile(index)} line ${line} of commit ${number}\n`,
  ).join('');
  let changes = `M 100644 inline ${plainFile(index)}\n${sized(text)}`;
  if (number % busyStep === 0) {
    changeBusy(busy, number, next);
    changes += `M 100644 inline ${busyFile}\n${sized(busy.map((line) => `${line}\n`).join(''))}`;
  }
  return changes;
}

/**
 * The history as `git fast-import` reads it: one branch, `main`, with merges.
 */
export function historyStream(): string {
  const next = numbers(42);
  const busy: string[] = [];
  const stream: string[] = [];
  let side: number | undefined;
  for (let number = 1; number <= commits; number++) {
    const [name, email] = people[next(people.length)]!;
    const signature = `${name} <${email}> ${start_s + number * step_s} +0200`;
    // A side branch begins two commits before it is merged, and holds one commit.
    const isSide = number % mergeStep === mergeStep - 1;
    const parent = number === 1 ? '' : `from :${side === undefined || isSide ? number - 1 : number - 2}\n`;
    const merged = side === undefined ? '' : `merge :${side}\n`;
    stream.push(
      `commit refs/heads/${isSide ? 'side' : 'main'}\nmark :${number}\n`,
      `author ${signature}\ncommitter ${signature}\n`,
      sized(`Commit ${number}\n\nIt does what number ${number} has to do.\n`),
      parent,
      merged,
      changesOf(number, busy, next),
    );
    side = isSide ? number : undefined;
  }
  stream.push('reset refs/heads/side\nfrom 0000000000000000000000000000000000000000\n\n');
  return stream.join('');
}
