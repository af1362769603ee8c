/** The thread that `highlight.ts` starts. */
import { parentPort } from 'node:worker_threads';
import type { ToHighlight } from './highlight.ts';
import { grammarOf } from './languages.ts';
import { type Mark, marksByLines, marksByTree } from './marks.ts';

/** The rest of a text is shown without marks after this time. */
const maximum_ms = 60;

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (character) => escapes[character]!);

/** A mark across several lines is repeated in each, so that lines can be shown one by one. */
function htmlOf(text: string, marks: readonly Mark[]): string {
  let html = '';
  let at = 0;
  for (const { from, to, name } of marks) {
    if (from < at) continue;
    html += escaped(text.slice(at, from));
    html += text
      .slice(from, to)
      .split('\n')
      .map((line) => (line === '' ? '' : `<span class="${name}">${escaped(line)}</span>`))
      .join('\n');
    at = to;
  }
  return html + escaped(text.slice(at));
}

parentPort!.on('message', async ({ text, file_name }: ToHighlight) => {
  const grammar = await grammarOf(file_name);
  const before = process.threadCpuUsage();
  const isLate = () => {
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000 > maximum_ms;
  };
  const marks = !grammar
    ? []
    : 'tree' in grammar
      ? marksByTree(grammar.tree, text, isLate)
      : marksByLines(grammar.lines, text, isLate);
  parentPort!.postMessage(htmlOf(text, marks));
});
