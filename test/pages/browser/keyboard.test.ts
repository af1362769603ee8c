/** A way through pages with nothing but a keyboard. */
import assert from 'node:assert/strict';
import { browserOf, password } from '../../support/browser.ts';
import { browserTest, type Visitor } from '../../support/chromium.ts';
import { addIssue } from '../../support/issues.ts';
import { world } from '../../support/world.ts';

interface Stop {
  name: string;
  /** Whether a line is drawn around it. */
  is_outlined: boolean;
  /** Whether it is on the screen, with nothing in front of it. */
  is_visible: boolean;
}

/** What has the focus. */
const stopped = `(() => {
  const element = document.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(element);
  const [box] = element.getClientRects();
  const shown = document.elementFromPoint(box.x + box.width / 2, box.y + Math.min(box.height / 2, 20));
  return {
    name: (element.labels?.[0] ?? element).innerText.trim(),
    is_outlined: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2,
    is_visible: element.contains(shown),
  };
})()`;

/** More stops are on no page of the way. */
const mostStops = 60;

/** Presses Tab until something has the focus, and looks at each stop. */
async function tabTo({ page, path }: Visitor, name: RegExp): Promise<void> {
  for (let count = 0; count < mostStops; count++) {
    await page.keyboard.press('Tab');
    const stop = await page.evaluate<Stop>(stopped);
    assert.ok(stop.is_outlined && stop.is_visible, `${path}: ${JSON.stringify(stop)}`);
    if (name.test(stop.name)) return;
  }
  assert.fail(`${path}: no ${name}`);
}

browserTest('an issue is found and commented on with the keyboard alone', async (invite) => {
  const here = await world();
  await addIssue(here, { title: 'Pick apples', description: 'Soon.\n\n'.repeat(60) });
  await browserOf(here, here.people.developer);
  const visitor = await invite(here.url);
  const { keyboard } = visitor.page;
  const press = (key: string) => visitor.arriving(() => keyboard.press(key));
  await visitor.open(`/${here.project.full_path}/-/issues`);
  await tabTo(visitor, /^Skip to content$/);
  await keyboard.press('Enter');
  assert.ok(visitor.path.endsWith('#main'));
  await tabTo(visitor, /^Username/);
  await keyboard.type(here.people.developer.username);
  await tabTo(visitor, /^Password$/);
  await keyboard.type(password);
  await tabTo(visitor, /^Stay signed in$/);
  await keyboard.press('Space');
  await tabTo(visitor, /^Sign in$/);
  await press('Enter');
  await tabTo(visitor, /^Pick apples$/);
  await press('Enter');
  await tabTo(visitor, /^Skip to content$/);
  await keyboard.press('Enter');
  await tabTo(visitor, /^Comment$/);
  await keyboard.type('With the long ladder.');
  await tabTo(visitor, /^Comment$/);
  await press('Space');
  await visitor.sees('With the long ladder.');
  assert.match(visitor.path, /#note_\d+$/);
  await visitor.page.reload();
  await tabTo(visitor, /developer/);
});
