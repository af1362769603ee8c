/** What people write is shown as they meant it, and its tasks are ticked. */
import assert from 'node:assert/strict';
import { ownAddress } from '../../support/address.ts';
import { browserOf, password } from '../../support/browser.ts';
import { browserTest, type Invite } from '../../support/chromium.ts';
import { addIssue } from '../../support/issues.ts';
import { world } from '../../support/world.ts';

const environment = await ownAddress();

const description = `## Work :tada:

[[_TOC_]]

- [ ] dig **deep**
- [x] plant

> [!WARNING]
> Mind the roots.[^1]

| tree | height |
|:-----|-------:|
| pear | 3 |

<details open><summary>Sizes</summary>

$\`a^2 + \\frac{1}{2}\`$

</details>

\`\`\`math
\\begin{pmatrix} a & b \\end{pmatrix}
\`\`\`

\`\`\`mermaid
graph TD; Dig-->Plant
\`\`\`

\`\`\`mermaid
graph nonsense
\`\`\`

[^1]: They are *shallow*.
`;

for (const javaScriptEnabled of [true, false])
  browserTest(
    `tasks, formulas and diagrams, ${javaScriptEnabled ? 'with' : 'without'} JavaScript`,
    async (invite: Invite) => {
      const here = await world({ environment });
      const { people, url, project } = here;
      const { iid } = await addIssue(here, { title: 'Work', description });
      await browserOf(here, people.developer);
      const visitor = await invite(url, { javaScriptEnabled });
      const { page } = visitor;
      await visitor.signIn(people.developer.username, password);
      await visitor.open(`/${project.full_path}/-/issues/${iid}`);
      const at = `/projects/${project.id}/issues/${iid}`;
      const tasks = async () => (await here.as('developer').get(at)).body.description.match(/- \[.\]/g);

      assert.equal(await page.locator('math').count(), 2);
      await page.getByLabel('dig deep').check();
      if (javaScriptEnabled) await page.waitForResponse((response) => response.request().method() === 'POST');
      await page.getByLabel('plant').uncheck();
      if (javaScriptEnabled) await page.waitForResponse((response) => response.request().method() === 'POST');
      else await visitor.press('Save ticks');
      assert.deepEqual(await tasks(), ['- [x]', '- [ ]']);

      if (javaScriptEnabled) {
        const drawn = page.frameLocator('iframe').first().locator('svg', { hasText: 'Plant' });
        await drawn.waitFor();
        await page.getByText('Source of the diagram').waitFor();
        // What cannot be drawn stays as it was written.
        await page.locator('iframe').nth(1).waitFor({ state: 'detached' });
      }
      assert.match(await page.locator('.text pre').last().innerText(), /graph nonsense/);
    },
  );

browserTest('a comment is written with tools, completion, a file and a preview', async (invite) => {
  const here = await world({ environment });
  const { people, url, project } = here;
  const { iid } = await addIssue(here, { title: 'Prune the pear' });
  await browserOf(here, people.developer);
  const visitor = await invite(url);
  const { page } = visitor;
  await visitor.signIn(people.developer.username, password);
  await visitor.open(`/${project.full_path}/-/issues/${iid}`);
  const field = page.getByLabel('Comment', { exact: true });
  await field.focus();
  await page.getByRole('button', { name: 'Bold' }).click();
  await page.keyboard.type('late');
  await page.keyboard.press('End');
  await page.keyboard.type(', see #pear');
  await page.getByRole('option', { name: /Prune the pear/ }).waitFor();
  await page.keyboard.press('Enter');
  assert.equal(await field.inputValue(), `**late**, see #${iid} `);
  await page.keyboard.type(':tad');
  await page.getByRole('option', { name: /:tada:/ }).click();
  const name = 'pear tree.png';
  await page
    .getByLabel('Attach files')
    .setInputFiles({ name, mimeType: 'image/png', buffer: Buffer.from('no picture') });
  await page.getByText('pear tree.png is attached.').waitFor();
  assert.match(await field.inputValue(), /:tada: !\[pear_tree\]\(\/uploads\/[0-9a-f]{32}\/pear_tree\.png\)$/);

  await page.getByRole('button', { name: 'Preview' }).click();
  await page.locator('.preview strong', { hasText: 'late' }).waitFor();
  assert.equal(await field.isVisible(), false);
  await page.getByRole('button', { name: 'Write' }).click();
  assert.equal(await field.isVisible(), true);
  await visitor.press('Comment');
  await visitor.sees('late, see #1 🎉');
});
