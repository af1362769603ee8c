import io.sentry.Sentry;
import io.sentry.SentryLevel;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Sends an exception, a message and a session to each DSN of its standard input, as an application does. */
public class SentryJava {
    static void pick() {
        throw new IllegalStateException("no apples left");
    }

    public static void main(String[] arguments) throws Exception {
        Matcher dsns = Pattern.compile("\"([^\"]+)\"").matcher(new String(System.in.readAllBytes()));
        while (dsns.find()) {
            String dsn = dsns.group(1);
            Sentry.init(options -> {
                options.setDsn(dsn);
                options.setRelease("orchard@1.0");
                options.setEnvironment("autumn");
            });
            Sentry.startSession();
            try {
                pick();
            } catch (IllegalStateException error) {
                Sentry.captureException(error);
            }
            Sentry.captureMessage("the harvest is late", SentryLevel.WARNING);
            Sentry.endSession();
            Sentry.flush(5000);
            Sentry.close();
        }
    }
}
