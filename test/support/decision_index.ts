/** The index of the decisions, made from their titles. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

const folder = path.resolve(import.meta.dirname, '../../docs/decisions');

async function lineOf(file: string): Promise<string> {
  const [, title] = /^# (.+)\n/.exec(await readFile(path.join(folder, file), 'utf8')) ?? [];
  if (!title) throw new Error(`docs/decisions/${file} has no title`);
  return `- [${title}](${file})`;
}

/** The text of `docs/decisions/README.md`. */
export async function decisionIndex(): Promise<string> {
  const files = (await readdir(folder)).filter((file) => /^\d{4}-.*\.md$/.test(file)).sort();
  const lines = await Promise.all(files.map(lineOf));
  return `# Decisions

Choices that a newcomer would question: what the situation was, what was decided, what it costs, and what would change our mind. A decision that no longer holds is
deleted or replaced; numbers are not used again.

${lines.join('\n')}
`;
}
