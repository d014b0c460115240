import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.opensearch.common.logging.LogConfigurator;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;

/**
 * A node of the tests' cluster: HOME (lib, modules, plugins) and CONFIG are its arguments. It ends when its standard input does,
 * and so with the last process of the tests that holds the other end.
 */
public final class OpenSearchNode {
    public static void main(String[] folders) throws Exception {
        Thread.ofPlatform().daemon().start(OpenSearchNode::endWithTheTests);
        Environment environment = InternalSettingsPreparer.prepareEnvironment(
            Settings.EMPTY, Map.of("path.home", folders[0]), Path.of(folders[1]), () -> "test");
        LogConfigurator.setNodeName(Node.NODE_NAME_SETTING.get(environment.settings()));
        LogConfigurator.configure(environment);
        new Node(environment).start();
        Thread.currentThread().join();
    }

    private static void endWithTheTests() {
        try {
            while (System.in.read() >= 0) {}
        } catch (IOException closed) {
            // as at its end
        }
        Runtime.getRuntime().halt(0);
    }
}
