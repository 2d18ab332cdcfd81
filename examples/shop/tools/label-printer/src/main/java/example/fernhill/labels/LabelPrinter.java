package example.fernhill.labels;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.Charset;
import java.util.List;

/** Sends shipping labels to the thermal printer at the packing table. */
public final class LabelPrinter implements AutoCloseable {
    private static final Charset PRINTER_CHARSET = Charset.forName("windows-1252");
    private final OutputStream out;

    /** Connects to a printer that is already open. */
    public LabelPrinter(OutputStream out) {
        this.out = out;
    }

    /**
     * Prints one label and cuts the paper.
     *
     * @param lines the text, at most {@value Layout#MAX_LINES} lines
     * @throws IOException when the printer is out of paper
     */
    public void print(List<String> lines) throws IOException {
        for (String line : lines.subList(0, Math.min(lines.size(), Layout.MAX_LINES))) {
            out.write(line.getBytes(PRINTER_CHARSET));
            out.write('\n');
        }
        out.write(Layout.CUT);
    }

    @Override
    public void close() throws IOException {
        out.close();
    }

    /** Measures of the paper. */
    static final class Layout {
        static final int MAX_LINES = 12;
        static final byte[] CUT = {0x1d, 'V', 1};

        private Layout() {
        }
    }
}

/** How a parcel is handed over. */
enum Handover {
    PICK_UP,
    DROP_OFF
}
