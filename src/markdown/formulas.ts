/** Formulas: `` $`a^2`$ `` in a line and blocks of `math`, as MathML, which browsers show without a script. */
import type { StateCore, Token } from 'markdown-it';

type Katex = typeof import('katex').default;

const inLine = /\$`[^`]+`\$/;
const inBlock = /(?:```|~~~)[ \t]*math\b/;

/** Whether a text may have formulas. Rendering them takes many times the time of other texts. */
export const hasFormulas = (text: string): boolean => inLine.test(text) || inBlock.test(text);

let katex: Katex | undefined;

/** Loads what renders formulas, which few texts have. */
export const loadFormulas = async (): Promise<void> => {
  katex ??= (await import('katex')).default;
};

export const formulaTags = (
  'math semantics annotation mrow mi mn mo mtext ms mspace msub msup msubsup mmultiscripts mprescripts mfrac msqrt mroot munder ' +
  'mover munderover mtable mtr mtd mstyle mpadded mphantom menclose merror'
).split(' ');
export const formulaAttributes = (
  'display encoding mathvariant mathcolor mathbackground stretchy fence separator form lspace rspace width height depth voffset scriptlevel ' +
  'displaystyle columnalign columnspacing columnlines rowspacing rowlines minsize maxsize accent accentunder linethickness notation movablelimits largeop symmetric'
).split(' ');

/** The longest formula; longer ones are shown as code. */
const maximum_chars = 5_000;

/** @returns undefined for what is no formula */
function formula(text: string, displayMode: boolean): string | undefined {
  if (!katex || text.length > maximum_chars) return undefined;
  try {
    const options = {
      output: 'mathml',
      displayMode,
      maxExpand: 200,
      maxSize: 50,
      strict: false,
      trust: false,
    } as const;
    return katex.renderToString(text, { ...options, throwOnError: true });
  } catch {
    return undefined;
  }
}

/** Changes a token into a formula; one that cannot be read stays code. */
function show(token: Token, isBlock: boolean): void {
  const shown = formula(token.content, isBlock);
  if (shown === undefined) token.attrJoin('class', 'language-math');
  else Object.assign(token, { type: 'formula', content: isBlock ? `<p>${shown}</p>\n` : shown });
}

/** A rule for the parser. */
export function showFormulas({ tokens }: StateCore): void {
  if (!katex) return;
  for (const token of tokens) {
    if (token.type === 'fence' && token.info.trim() === 'math') show(token, true);
    const children = token.children ?? [];
    for (const [index, child] of children.entries()) {
      const [before, after] = [children[index - 1], children[index + 1]];
      if (child.type !== 'code_inline' || before?.type !== 'text' || after?.type !== 'text') continue;
      if (!before.content.endsWith('$') || !after.content.startsWith('$')) continue;
      before.content = before.content.slice(0, -1);
      after.content = after.content.slice(1);
      show(child, false);
    }
  }
}
