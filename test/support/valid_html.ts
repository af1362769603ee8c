/** What is wrong with the HTML of a page. */
import { HtmlValidate } from 'html-validate';

/** Rules about structure, attributes and accessibility. What is only a matter of taste is ours. */
const validator = new HtmlValidate({
  root: true,
  extends: ['html-validate:recommended'],
  rules: {
    'doctype-style': 'off',
    'long-title': 'off',
    // A button of a form sends it; there are no others.
    'no-implicit-button-type': 'off',
    // A diff of a thousand lines is smaller without end tags, as HTML allows.
    // A text says with `align` how it is placed, since a style would be refused.
    'no-deprecated-attr': 'off',
    'no-implicit-close': 'off',
    'no-trailing-whitespace': 'off',
    'prefer-tbody': 'off',
    'void-style': 'off',
  },
});

/** @returns a sentence for each problem */
export async function problemsIn(html: string): Promise<string[]> {
  const { results } = await validator.validateString(html);
  return results.flatMap(({ messages }) =>
    messages.map(({ ruleId, message, line, selector }) => `${ruleId}: ${message} (line ${line}, ${selector})`),
  );
}
