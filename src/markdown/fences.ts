/** The fenced code blocks of a text. */
import { linesOf } from './lines.ts';
import { inSlices, type Steps } from './slices.ts';

export interface FencedBlock {
  /** The text after the opening fence, without surrounding white space. */
  info: string;
  /** Each line ends with a line break; empty without lines. */
  text: string;
}

function* blocksIn(text: string, isWanted: (info: string) => boolean, limit: number): Steps<FencedBlock[]> {
  const blocks: { info: string; lines: string[] }[] = [];
  let open: (typeof blocks)[number] | undefined;
  // Few texts have such blocks, and searching for a fence is much cheaper than splitting lines.
  const lines = text.includes('```') || text.includes('~~~') ? linesOf(text) : [];
  for (const { fence } of lines) {
    yield;
    if (fence?.at === 'inside') open?.lines.push(`${fence.text}\n`);
    else open = undefined;
    if (fence?.at !== 'start' || !isWanted(fence.info)) continue;
    if (blocks.length === limit) break;
    open = { info: fence.info, lines: [] };
    blocks.push(open);
  }
  return blocks.map(({ info, lines: inside }) => ({ info, text: inside.join('') }));
}

/**
 * The fenced code blocks of a Markdown text, in order. A block without an end reaches to the end of its container.
 * @param isWanted whether a block is wanted, by the text after its opening fence
 * @param limit how many at most
 */
export const fencedBlocks = (
  text: string,
  isWanted: (info: string) => boolean,
  limit: number,
): Promise<FencedBlock[]> => inSlices(blocksIn(text, isWanted, limit));
