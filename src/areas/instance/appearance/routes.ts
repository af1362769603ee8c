/** The appearance of the instance: names, texts, colours and pictures (docs/reference/appearance.md). */
import { Type } from 'typebox';
import { admin } from '../../../access/index.ts';
import {
  allOptional,
  atLeastOneOf,
  checked,
  File,
  get,
  nullable,
  one,
  put,
  resource,
  UploadedFile,
} from '../../../http/index.ts';
import { hexColorReasons, tooLong } from '../../../texts/index.ts';
import { type Received, receivePicture, setPicture } from './actions.ts';
import { readAppearance } from './queries.ts';
import { formatText, type PictureKind, pictureKinds, tooBigText } from './rules.ts';

const Text = (most: number, description: string) =>
  checked(Type.String({ description: `${description}; at most ${most.toLocaleString('en-US')} characters` }), (text) =>
    tooLong(text, most),
  );
const Color = (description: string) => checked(Type.String({ description }), hexColorReasons);

const texts = {
  title: Text(255, 'Shown where people sign in'),
  description: Text(10_000, 'Markdown below the title'),
  pwa_name: Text(255, 'Name of the page as an application of a device'),
  pwa_short_name: Text(255, 'Its short name'),
  pwa_description: Text(2048, 'Its description'),
  member_guidelines: Text(4096, 'Markdown above the members of groups and projects'),
  new_project_guidelines: Text(4096, 'Markdown above the form for a new project'),
  profile_image_guidelines: Text(4096, 'Markdown about avatars'),
  header_message: Text(4096, 'Shown above every page'),
  footer_message: Text(4096, 'Shown below every page'),
  message_background_color: Color('Colour behind these messages, `#rgb` or `#rrggbb`'),
  message_font_color: Color('Colour of these messages'),
  email_header_and_footer_enabled: Type.Boolean({ description: 'Whether mail has these messages, too' }),
};

/**
 * The largest upload that is read: files above the picture limit are refused with a reason, and files above this one
 * with 413.
 */
const received_bytes = 10 * 1024 * 1024;
const Picture = (description: string) =>
  nullable(
    File('appearance', received_bytes, {
      description: `${description}: PNG, JPEG, GIF, WebP or ICO of at most 1 MiB; null removes it`,
    }),
  );

const pictures = {
  logo: Picture('Shown where people sign in'),
  pwa_icon: Picture('Icon of the page as an application of a device'),
  header_logo: Picture('Shown at the top of every page'),
  favicon: Picture('Icon of the page in browsers'),
};

const Path = () => nullable(Type.String({ description: 'Path of the picture on the server' }));
const Appearance = resource('Appearance', {
  ...texts,
  logo: Path(),
  pwa_icon: Path(),
  header_logo: Path(),
  favicon: Path(),
});

const isPicture = (name: string): name is PictureKind => (pictureKinds as readonly string[]).includes(name);

export const appearanceRoutes = [
  get('/application/appearance', {
    operation: 'getAppearance',
    summary: 'Show how the server looks',
    access: admin,
    returns: one(Appearance),
    handle: ({ db }) => readAppearance(db),
  }),
  put('/application/appearance', {
    operation: 'updateAppearance',
    summary: 'Update how the server looks',
    access: admin,
    input: { ...allOptional(texts), ...allOptional(pictures) },
    rules: [atLeastOneOf(...Object.keys(texts), ...pictureKinds)],
    returns: one(Appearance),
    refusals: { 400: [`<parameter>: ${tooBigText}`, `<parameter>: ${formatText}`] },
    handle: async ({ db, blobs, input }) => {
      const given = Object.entries(input).filter(([, value]) => value !== undefined);
      const received: Received[] = [];
      for (const [name, file] of given)
        if (isPicture(name) && (file === null || file instanceof UploadedFile))
          received.push(await receivePicture({ db, blobs }, name, file));
      const columns = Object.fromEntries(given.filter(([name]) => !isPicture(name)));
      await db.transaction().execute(async (tx) => {
        if (Object.keys(columns).length > 0) await tx.updateTable('appearance').set(columns).execute();
        for (const picture of received) await setPicture(tx, picture);
      });
      return readAppearance(db);
    },
  }),
];
